// Decodes one slice of a trace's text into events.
//
// Threads: one decoder a thread; the slices it fills are independent of each other.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/column.h"
#include "base/string_pool.h"
#include "trace/dialect.h"
#include "trace/event.h"
#include "trace/oddities.h"

namespace jarvis::trace {

// What a slice holds. Ids are local to it: `names` for names, categories and tracks (JSON escapes
// not resolved yet), `raws` for raw JSON; EventStore gets the global ones when the slice is added.
struct DecodedSlice {
  struct LocalCategory {
    StringId name;
    CategoryRule rule;
    std::uint64_t events = 0;
    std::uint64_t first_uid = 0;
  };
  struct LocalTrack {
    StringId pid;
    StringId tid;
  };
  struct BeginEnd {
    Event event;
    char phase;
  };
  struct Inexact {
    std::uint32_t event;  // index in `events`
    double ts_us;
    double dur_us;
  };
  struct LocalMeta {
    std::uint32_t track;
    StringId name;  // in names
    StringId args;  // in raws
  };

  Column<Event> events;
  Column<Args> args;
  std::vector<Flow> flows;
  std::vector<BeginEnd> begin_ends;
  std::vector<Inexact> inexact;
  std::vector<LocalMeta> meta_events;
  std::vector<LocalCategory> categories;
  std::vector<LocalTrack> tracks;
  StringPool names;
  StringPool raws;
  StringPool track_keys;  // "pid tid" -> index in tracks
  Oddities oddities;
  Dialect dialect;
  std::uint64_t ignored_events = 0;

  void Clear();
};

class EventDecoder {
 public:
  EventDecoder();
  ~EventDecoder();
  EventDecoder(const EventDecoder&) = delete;
  EventDecoder& operator=(const EventDecoder&) = delete;

  // Decodes whole elements separated by commas. `text` must start one byte after, and end
  // kPaddingBytes before, the ends of the memory it lies in: both sides are overwritten.
  // `first_uid`: position of the first element; `elements`: how many there are.
  void Decode(char* text, std::size_t size, std::uint64_t first_uid, std::uint64_t elements,
              DecodedSlice* out);

  static constexpr std::size_t kPaddingBytes = 2;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace jarvis::trace
