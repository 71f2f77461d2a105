#include "session/trace_bound.h"

#include "session/loaded_trace.h"
#include "session/trace_frames.h"
#include "session/trace_trust.h"

namespace jarvis::session {

Result<ledger::StepBound> BoundOf(const LoadedTrace& trace, const Job& job) {
  JV_ASSIGN(const auto made, FramesOf(trace, job));
  return BoundOf(trace, made->frames.base, made->books, job);
}

Result<ledger::StepBound> BoundOf(const LoadedTrace& trace, const analysis::BaseOfTime& base,
                                  const ledger::Books& books, const Job& job) {
  // Without frames of Python there are no pauses between them.
  if (!trace.recorded().python_frames) return ledger::BoundOf(base, books);
  JV_ASSIGN(const auto cost, ProfilingCostOf(trace, job));
  double pauses_ns = 0;
  for (const analysis::HostCost& pause : analysis::FramePauses(*cost)) {
    if (Contains(base.host_base, pause.begin_ns)) pauses_ns += pause.low_ns;
  }
  return ledger::BoundOf(base, books, static_cast<std::int64_t>(pauses_ns));
}

}  // namespace jarvis::session
