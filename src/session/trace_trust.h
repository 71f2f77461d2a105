// How far a recording can be trusted, as far as it costs anything to find out: made when first
// asked for and kept with the trace.
#pragma once

#include <memory>

#include "analysis/host/descheduled.h"
#include "analysis/host/first_calls.h"
#include "analysis/host/host_stops.h"
#include "analysis/host/profiling_cost.h"
#include "base/job.h"
#include "base/result.h"

namespace jarvis::session {

class LoadedTrace;

// What profiling cost the recorded program. Valid as long as the trace is. Errors: kCancelled.
Result<std::shared_ptr<const analysis::ProfilingCost>> ProfilingCostOf(const LoadedTrace& trace,
                                                                       const Job& job);

// What happened for the first time and took long because of it. As above.
Result<std::shared_ptr<const analysis::FirstCalls>> FirstCallsOf(const LoadedTrace& trace,
                                                                 const Job& job);

// When the host was not running. As above.
Result<std::shared_ptr<const analysis::Descheduled>> DescheduledOf(const LoadedTrace& trace,
                                                                   const Job& job);

// Where a launching thread stands still in Python.
Result<std::shared_ptr<const std::vector<analysis::HostStop>>> HostStopsOf(const LoadedTrace& trace,
                                                                           const Job& job);

}  // namespace jarvis::session
