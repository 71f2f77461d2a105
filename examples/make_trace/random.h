// A small generator (splitmix64) whose numbers are the same everywhere.
#pragma once

#include <cstdint>

namespace make_trace {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15U + 0x632BE59BD9B4E019U) {}

  std::uint64_t Next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }

  // In [0, bound).
  std::int64_t Below(std::int64_t bound) {
    return static_cast<std::int64_t>(Next() % static_cast<std::uint64_t>(bound));
  }

  // value, more or less by at most per_mille thousandths.
  std::int64_t Around(std::int64_t value, std::int64_t per_mille) {
    const std::int64_t spread = value * per_mille / 1000;
    return spread == 0 ? value : value - spread + Below(2 * spread + 1);
  }

 private:
  std::uint64_t state_;
};

}  // namespace make_trace
