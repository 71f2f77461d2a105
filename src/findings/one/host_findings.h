// Findings about the host: what it does while the GPU has nothing to do, where it waits, how fast
// it launches, and what happened only once. Each with the change that a simulation is asked.
#pragma once

#include <vector>

#include "analysis/host/descheduled.h"
#include "analysis/host/first_calls.h"
#include "analysis/host/host_stops.h"
#include "analysis/host/host_summary.h"
#include "analysis/host/profiling_cost.h"
#include "findings/one/analysis.h"
#include "findings/one/finding.h"
#include "findings/one/idle_sections.h"
#include "findings/one/time_scope.h"
#include "session/trace_frames.h"

namespace jarvis::findings {

struct HostEvidence {
  const session::LoadedTrace& trace;
  const analysis::HostSummary& host;
  const session::TraceFrames& frames;
  const TimeScope& scope;
  double base_ms;  // what shares of time are of
  const IdleSections& sections;
  const analysis::FirstCalls& first_calls;
  const analysis::Descheduled& descheduled;
  const std::vector<analysis::HostStop>& stops;
  const analysis::ProfilingCost& profiling;
  const WorkContext& context;
};

// What the profiler itself cost is no finding; see the qualities. Stretches that first calls, a
// host without CPU or the profiler explain are not told twice. Each is as large as the idle time of
// the GPU that is due to it (IdleLedger): a host that waits while the GPU works costs nothing.
// Savings are that until a simulation says what they are worth (FillWallSavings).
std::vector<Finding> HostFindings(const HostEvidence& evidence);

}  // namespace jarvis::findings
