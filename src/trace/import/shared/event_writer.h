// Events that an importer makes itself, row by row, as the reader of JSON would have made them of
// the same recording written by torch.profiler.
//
// Whose events they are is a number until all is read (`Owners`): a recorder's process and GPU
// numbers need not be those that the trace shows. Times are nanoseconds of the recording's clock.
//
// Threads: a writer has one thread. Two may write parts of one trace, see Take().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/column.h"
#include "base/result.h"
#include "trace/event_store.h"
#include "trace/import/shared/owners.h"

namespace jarvis::trace {

class EventWriter {
 public:
  // `apart`: its events lie in pieces of their own until another writer takes them.
  explicit EventWriter(bool apart = false) : apart_(apart) {}

  // A name as a trace keeps it: without what is no UTF-8 and whatever is beyond
  // kRecordedNameBytesMax.
  StringId Name(std::string_view text);
  // Raw JSON of args: `"key": value,` pairs, or a value.
  StringId Raw(std::string_view json) { return Kept(json); }

  // Where events lie: a thread of a process, or a stream of a GPU. `ranges`: beside the thread, for
  // what need not nest with its calls.
  std::uint32_t TrackOf(OwnerId owner, std::int64_t lane, bool ranges = false);

  struct NewEvent {
    EventKind kind;
    StringId name;
    std::uint32_t track;
    std::int64_t ts_ns;
    std::int64_t dur_ns;
  };
  // kTooLarge: a trace has no ids for so many.
  Status Add(const NewEvent& event);
  Status Add(const NewEvent& event, const Args& args);

  std::uint64_t events() const { return next_uid_; }
  Oddities& oddities() { return store_.oddities; }

  // Puts the other's events behind its own.
  Status Take(EventWriter other);
  // Gives every track its texts, and what was written.
  EventStore Finish(const Owners& owners);
  // Before: all that was written so far, to be put right.
  EventStore& store() { return store_; }
  std::vector<OwnerId> owner_of_track() const;

 private:
  struct TrackKey {
    OwnerId owner;
    std::int64_t lane;
    bool ranges;
    bool operator==(const TrackKey&) const = default;
  };
  struct HashTrackKey {
    std::size_t operator()(const TrackKey& key) const;
  };
  struct Piece {
    Column<Event> events;
    Column<Args> args;
  };

  StringId Kept(std::string_view text);
  std::uint8_t CategoryOf(EventKind kind);
  Status Room() const;
  void Push(const NewEvent& event, std::uint32_t args);

  const bool apart_;
  EventStore store_;  // its lists of tracks and categories are made at the end
  std::vector<Piece> pieces_;
  std::uint64_t next_uid_ = 0;
  std::uint64_t text_bytes_ = 0;  // of long texts
  std::vector<TrackKey> tracks_;
  std::unordered_map<TrackKey, std::uint32_t, HashTrackKey> track_of_;
  std::uint32_t last_track_ = 0;
  std::vector<EventKind> categories_;  // kinds seen, in order
  std::string clean_;
};

// Of names that recorders of this kind write; longer ones are cut.
inline constexpr std::size_t kRecordedNameBytesMax = 4096;

}  // namespace jarvis::trace
