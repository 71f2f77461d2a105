// The simulation of a trace, made when first asked for.
#pragma once

#include <memory>

#include "analysis/simulation/simulation.h"
#include "base/job.h"
#include "base/result.h"

namespace jarvis::session {

class LoadedTrace;

// Kept with the trace. Errors: kCancelled.
Result<std::shared_ptr<const analysis::Simulation>> SimulationOf(const LoadedTrace& trace,
                                                                 const Job& job);

}  // namespace jarvis::session
