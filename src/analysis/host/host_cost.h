// A stretch of a thread in which part of the time is a cost that the program would not have without
// the profiler.
#pragma once

#include <cstdint>

namespace jarvis::analysis {

struct HostCost {
  std::uint32_t track = 0;    // of EventStore::tracks
  std::int64_t begin_ns = 0;  // on the trace's clock
  std::int64_t end_ns = 0;
  double low_ns = 0;  // at least so much of it is the cost; never more than the stretch
  double high_ns = 0;
  double likely_ns = 0;  // 0: not known better than as the middle of both
  double expected_ns() const { return likely_ns > 0 ? likely_ns : (low_ns + high_ns) / 2; }
};

}  // namespace jarvis::analysis
