// One of several like modules that takes far longer than its siblings.
//
// Method: calls of modules in the host's time of the base, below one module and of one class; only
// calls whose GPU work has the same kernels in the same order are like each other. Each instance's
// calls are added up, without one-time work. At least four instances, with equally many calls; the
// longest takes a third more than the median, by five times the siblings' median deviation, and by
// 5 % of the base.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "session/loaded_trace.h"
#include "session/trace_frames.h"

namespace jarvis::findings {

struct SlowInstance {
  std::string module;        // "BertLayer_0"
  std::size_t siblings = 0;  // that it is compared with
  std::uint64_t calls = 0;   // in the base, of each
  bool of_gpu = false;       // GPU time; else host time
  double ms = 0;             // of one call
  double usual_ms = 0;       // the siblings' median
};

// The one with the largest excess; absent: none. n log n in events, of which a limited
// number may lie in each other.
std::optional<SlowInstance> FindSlowInstance(const session::LoadedTrace& trace,
                                             const session::TraceFrames& frames);

}  // namespace jarvis::findings
