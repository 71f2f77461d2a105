// Time of a host thread that would not have passed without a certain cause, as a range.
#pragma once

#include <cstdint>

namespace jarvis::analysis {

// Within [begin_ns, end_ns) of a thread's time at least low_ns and at most high_ns are the cause's.
// Stretches of one thread may overlap; their costs add up.
struct HostCost {
  std::uint32_t track;
  std::int64_t begin_ns, end_ns;
  double low_ns, high_ns;
};

}  // namespace jarvis::analysis
