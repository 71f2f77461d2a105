// Puts decoded slices together, in file order, into one EventStore.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/string_pool.h"
#include "trace/event_decoder.h"
#include "trace/event_store.h"

namespace jarvis::trace {

class StoreBuilder {
 public:
  explicit StoreBuilder(EventStore* store) : store_(*store) {}

  // REQUIRES: slices come in file order. False if the trace has more events than ids.
  bool Append(const DecodedSlice& slice);
  // Pairs begin and end events, gives reserved memory back, fills the store's lists.
  void Finish();

 private:
  struct BeginEnd {
    Event event;
    char phase;
  };

  void MapNames(const DecodedSlice& slice);
  // A new long text uses up the trace's budget; false: there is not enough of it left.
  bool Affords(std::string_view text, std::uint64_t hash, std::uint64_t place);
  StringId KeepName(std::string_view text, std::uint64_t hash, std::uint64_t place);
  void MapTracks(const DecodedSlice& slice);
  void MapCategories(const DecodedSlice& slice);
  Event Mapped(Event event, const DecodedSlice& slice) const;
  void AppendArgs(const DecodedSlice& slice);
  void PairBeginEnds();
  bool PairTrack(std::vector<BeginEnd*>& marks, bool count_oddities);

  EventStore& store_;
  std::uint64_t text_bytes_ = 0;  // of long texts
  StringPool track_keys_;
  std::vector<StringId> track_pids_;
  std::vector<StringId> track_tids_;
  std::vector<StringId> category_names_;
  std::vector<BeginEnd> begin_ends_;

  // Of the slice being appended: local id to global id.
  std::vector<StringId> names_;
  std::vector<StringId> raws_;
  std::vector<std::uint32_t> tracks_;
  std::vector<std::uint8_t> categories_;
  std::string scratch_;
};

}  // namespace jarvis::trace
