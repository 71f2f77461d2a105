// What the packets of one sequence remember from one to the next: interned texts, defaults, clocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace jarvis::trace::perfetto {

inline constexpr std::uint64_t kBootClock = 6;

class Sequence {
 public:
  using Texts = std::unordered_map<std::uint64_t, std::string_view>;

  Texts categories, names, keys, strings;
  std::optional<std::uint64_t> default_track, default_clock;
  bool valid = false;  // its state was begun, and no packet was lost since

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
