// What the packets of one sequence remember from one to the next: interned texts, defaults, clocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/string_pool.h"

namespace jarvis::trace::perfetto {

inline constexpr std::uint64_t kBootClock = 6;

// What of an event a key of annotations stands for that no other event has: a time, a correlation.
enum class OwnNumber : std::uint8_t {
  kNone,
  kBegin,
  kEnd,
  kLength,
  kCorrelation,
  kOtherName,  // a correlation, as others call it
};
// `key`: without "debug.".
OwnNumber OwnNumberOf(std::string_view key);
// Keys of annotations are told with and without it.
std::string_view PlainKey(std::string_view key);
// How a text shows that nothing defines.
std::string NameOfUnknown(std::uint64_t id);

// Texts by their ids, which count from 1 in most files.
class InternedTexts {
 public:
  struct Entry {
    std::string_view text;
    StringId kept = kNoString;  // where readers have put it
    OwnNumber own = OwnNumber::kNone;
    bool known = false;
  };
  // Null: nothing defines it.
  Entry* Find(std::uint64_t id);
  const Entry* Find(std::uint64_t id) const { return const_cast<InternedTexts*>(this)->Find(id); }
  // True: it was another text before.
  bool Set(std::uint64_t id, std::string_view text);
  void Clear();

 private:
  std::vector<Entry> near_;  // by id; those far beyond the number of texts are in the other
  std::unordered_map<std::uint64_t, Entry> far_;
  std::size_t count_ = 0;
};

class Sequence {
 public:
  InternedTexts categories, names, keys, strings;
  std::optional<std::uint64_t> default_track, default_clock;
  bool valid = false;  // its state was begun, and no packet was lost since
  // Changes with what ids of annotations mean: equal bytes say the same for as long as it stays.
  std::uint64_t state = 0;
  bool asked_unknown = false;  // an id was asked for that nothing defined

  // Forgets texts and defaults: flag 1 of a packet.
  void Clear();
  // ClockSnapshot. False: it cannot be read.
  bool TakeClocks(std::string_view message);
  // A time on the trace's clock. Absent: beyond 64 bits. `known`: whether the clock is.
  std::optional<std::int64_t> ToTraceTime(std::uint64_t time, std::optional<std::uint64_t> clock,
                                          bool* known);

 private:
  struct Clock {
    std::int64_t base_ns = 0;  // of the trace's clock, when
    std::int64_t at_ns = 0;    // this one showed so much
    std::int64_t unit_ns = 1;
    bool incremental = false;
    std::int64_t last_ns = 0;
  };

  std::unordered_map<std::uint64_t, Clock> clocks_;
};

}  // namespace jarvis::trace::perfetto
