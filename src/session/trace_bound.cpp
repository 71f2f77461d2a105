#include "session/trace_bound.h"

#include "session/loaded_trace.h"
#include "session/trace_frames.h"
#include "session/trace_trust.h"

namespace jarvis::session {

Result<ledger::StepBound> BoundOf(const LoadedTrace& trace, const Job& job) {
  JV_ASSIGN(const auto made, FramesOf(trace, job));
  JV_ASSIGN(const auto cost, ProfilingCostOf(trace, job));
  const analysis::BaseOfTime& base = made->frames.base;
  double pauses_ns = 0;
  for (const analysis::HostCost& pause : analysis::FramePauses(*cost)) {
    if (Contains(base.host_base, pause.begin_ns)) pauses_ns += pause.low_ns;
  }
  return ledger::BoundOf(base, made->books, static_cast<std::int64_t>(pauses_ns));
}

}  // namespace jarvis::session
