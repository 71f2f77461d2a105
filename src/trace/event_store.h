// All events of a trace, in columns. Filled by the reader, then sealed: const from then on, so any
// number of threads may read it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/column.h"
#include "base/string_pool.h"
#include "trace/dialect.h"
#include "trace/event.h"
#include "trace/oddities.h"

namespace jarvis::trace {

// A phase-M event about a process or thread: {pid, tid, name, args as raw JSON members}.
struct MetaEvent {
  std::uint32_t track;
  StringId name;
  StringId args;  // kNoString: none
};

class EventStore {
 public:
  StringPool strings;
  Column<Event> events;
  Column<Args> args;
  Column<Flow> flows;
  std::vector<Track> tracks;
  std::vector<std::string_view> categories;  // by Event::category
  std::vector<MetaEvent> meta_events;
  Oddities oddities;
  Dialect dialect;

  std::uint64_t elements = 0;        // of traceEvents, of whatever phase
  std::uint64_t text_bytes = 0;      // of JSON read
  std::uint64_t ignored_events = 0;  // instants, counters and other phases that no analysis uses

  const Event& operator[](EventIndex e) const { return events[e]; }
  EventIndex size() const { return static_cast<EventIndex>(events.size()); }
  std::string_view name(EventIndex e) const { return strings[events[e].name]; }
  // The event's args, or a record in which everything is absent.
  const Args& args_of(EventIndex e) const {
    const std::uint32_t at = events[e].args;
    return at == kNoArgs ? kNone : args[at];
  }
  // The name by which models know an op.
  StringId KnownAs(EventIndex e) const {
    const StringId known_as = args_of(e).known_as;
    return known_as == kNoString ? events[e].name : known_as;
  }
  std::string_view text(StringId id) const {
    return id == kNoString ? std::string_view() : strings[id];
  }

  // Start and duration in microseconds, correctly rounded from the file's text, as a program that
  // reads them as doubles sees them.
  double ts_us(EventIndex e) const;
  double dur_us(EventIndex e) const;
  // As in the file, before any clipping.
  std::int64_t recorded_duration_ns(EventIndex e) const;

  // The reader's side.
  struct ExactTime {
    double ts_us;
    double dur_us;
  };
  std::unordered_map<std::uint32_t, ExactTime> exact_times;  // by uid, of events flagged kInexact
  std::unordered_map<std::uint32_t, std::int64_t>
      clipped_from;  // by uid, durations before clipping
  std::size_t MemoryBytes() const;

  // See base/image.h.
  template <typename Self, typename Image>
  static void EachPart(Self& self, Image& image);

 private:
  static const Args kNone;
};

template <typename Self, typename Image>
void EventStore::EachPart(Self& self, Image& image) {
  StringPool::EachPart(self.strings, image);
  image(self.events);
  image(self.args);
  image(self.flows);
  std::vector<std::string_view> pids;
  std::vector<std::string_view> tids;
  for (const Track& track : self.tracks) {
    pids.push_back(track.pid);
    tids.push_back(track.tid);
  }
  image(pids);
  image(tids);
  if constexpr (Image::kReads) {
    for (std::size_t i = 0; i < pids.size() && i < tids.size(); ++i)
      self.tracks.push_back({pids[i], tids[i]});
  }
  image(self.categories);
  image(self.meta_events);
  image(self.oddities);
  image(self.dialect);
  image(self.elements);
  image(self.text_bytes);
  image(self.ignored_events);
  image(self.exact_times);
  image(self.clipped_from);
}

// Nanoseconds to microseconds as the double nearest to the decimal text.
double MicrosOf(std::int64_t ns);

}  // namespace jarvis::trace
