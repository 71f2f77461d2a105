#include "session/trace_bound.h"

#include "session/loaded_trace.h"
#include "session/trace_frames.h"
#include "session/trace_trust.h"

namespace jarvis::session {

Result<analysis::StepBound> BoundOf(const LoadedTrace& trace, const Job& job) {
  JV_ASSIGN(const auto made, FramesOf(trace, job));
  JV_ASSIGN(const auto cost, ProfilingCostOf(trace, job));
  double pauses_ns = 0;
  for (const analysis::HostCost& pause : analysis::FramePauses(*cost)) {
    if (analysis::InBase(made->frames, pause.begin_ns)) pauses_ns += pause.low_ns;
  }
  return analysis::BoundOf(made->frames, static_cast<std::int64_t>(pauses_ns));
}

}  // namespace jarvis::session
