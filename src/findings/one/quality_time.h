// Qualities of the times: the profiler's cost, first calls, a host that did not run, clocks,
// durations.
#pragma once

#include <utility>
#include <vector>

#include "analysis/host/profiling_cost.h"
#include "analysis/host/recording_checks.h"
#include "findings/one/quality.h"

namespace jarvis::findings {

// By how many milliseconds recording slowed the host in all steps: least and most.
std::pair<double, double> RecordingCost(const analysis::ProfilingCost& cost);

// `checks`: of the trace. Errors: kCancelled.
Result<void> AddTimeQualities(const session::LoadedTrace& trace,
                              const analysis::RecordingChecks& checks, const Job& job,
                              std::vector<Quality>* list);

}  // namespace jarvis::findings
