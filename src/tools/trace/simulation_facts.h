// What every answer of the simulation says of itself: how far to trust it.
#pragma once

#include <string>
#include <vector>

#include "analysis/simulation/simulation.h"
#include "json/json.h"
#include "tools/shared/answer.h"

namespace jarvis::tools {

// wall_ms, replay_error_percent, matched_waits_percent, opaque_percent and the floors.
Json SimulationFacts(const analysis::Simulation& simulation);
std::vector<std::string> SimulationNotes(const analysis::Simulation& simulation);
// For a trace without GPU work or launches.
void ExplainNothingToSimulate(Answer* answer);

}  // namespace jarvis::tools
