// A trace with host events of another recording put beside its own, and its GPU work linked to
// them: for kernels of replayed GPU graphs, whose launches were recorded when the graph was made.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/event_store.h"

namespace jarvis::trace {

class Graft {
 public:
  // Starts from a copy of the trace: its events keep their indices.
  explicit Graft(const EventStore& base);

  // A correlation that nothing in the trace has.
  std::int64_t NewCorrelation() { return next_correlation_++; }
  // Where the trace ends; added events come after it, so that they are beside nothing that was
  // recorded.
  std::int64_t end_ns() const { return end_ns_; }

  // A copy of a host event, on the track of all added events. Its links are dropped but for
  // `correlation` (kAbsent: none).
  void Add(const EventStore& from, EventIndex event, std::int64_t ts_ns, std::int64_t dur_ns,
           std::int64_t correlation);
  // A copy of a host event that is said to have happened during one of the base's: at the same
  // time, on the track of its own thread. The other: a call of that name, of the base event's
  // category.
  EventIndex AddDuring(EventIndex base, const EventStore& from, EventIndex event);
  EventIndex AddCallDuring(EventIndex base, std::string_view name);
  // Hangs a piece of GPU work on an added launch call, whose grid it gets if it has none.
  void Link(EventIndex gpu, std::int64_t correlation, std::string_view launch_args);

  EventStore Take() && { return std::move(store_); }

 private:
  EventIndex Place(EventIndex base, Event added);
  std::uint32_t TrackOf(const Track& track);
  void CopyArgs(const EventStore& from, const Event& event, std::int64_t correlation, Event* added);
  std::uint8_t CategoryOf(std::string_view category);
  // The text's id here. Most texts come again and again, as one graph is replayed many times.
  StringId TextOf(const EventStore& from, StringId id);

  EventStore store_;
  std::int64_t next_correlation_ = 1;
  std::int64_t end_ns_ = 0;
  std::uint32_t next_uid_ = 0;
  std::uint32_t track_ = 0;
  std::map<std::pair<std::string, std::string>, std::uint32_t> tracks_;  // by process and thread
  std::map<const EventStore*, std::vector<StringId>> texts_;  // by id there; kNoString: not yet
};

}  // namespace jarvis::trace
