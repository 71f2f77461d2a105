// What every answer of the simulation says of itself: how far to trust it.
#pragma once

#include <string>
#include <vector>

#include "analysis/frames/time_frames.h"
#include "analysis/simulation/simulation.h"
#include "base/job.h"
#include "base/result.h"
#include "json/json.h"
#include "session/loaded_trace.h"
#include "tools/shared/answer.h"

namespace jarvis::tools {

// wall_ms, replay_error_percent, matched_waits_percent, opaque_percent and the floors.
Json SimulationFacts(const analysis::Simulation& simulation);
std::vector<std::string> SimulationNotes(const analysis::Simulation& simulation);
// For a trace without GPU work or launches.
void ExplainNothingToSimulate(const session::LoadedTrace& trace, Answer* answer);

// What bounds the steps that the user waits for, without the profiler's own pauses and without work
// that was not recorded: a sentence. Empty: not known.
Result<std::string> BoundSentence(const session::LoadedTrace& trace,
                                  const analysis::TimeFrames& frames, const Job& job);

}  // namespace jarvis::tools
