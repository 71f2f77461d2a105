#include "tools/trace/simulation_facts.h"

#include <fmt/format.h>

#include "output/number_format.h"

namespace jarvis::tools {

using output::Rounded;

Json SimulationFacts(const analysis::Simulation& simulation) {
  const analysis::SimulationQuality& quality = simulation.quality();
  Json facts = {{"wall_ms", Rounded(quality.wall_ms)},
                {"replay_error_percent", Rounded(quality.replay_error_percent)},
                {"matched_waits_percent", Rounded(quality.matched_waits_percent)},
                {"opaque_percent", Rounded(quality.opaque_percent)},
                {"host_floor_ms", Rounded(simulation.host_floor_ms())},
                {"gpu_floor_ms", Rounded(simulation.gpu_floor_ms())}};
  if (quality.unrecorded_percent > 0) {
    facts["unrecorded_percent"] = Rounded(quality.unrecorded_percent);
  }
  if (quality.silent_percent > 0) facts["silent_percent"] = Rounded(quality.silent_percent);
  return facts;
}

std::vector<std::string> SimulationNotes(const analysis::Simulation& simulation) {
  const analysis::SimulationQuality& quality = simulation.quality();
  std::vector<std::string> notes;
  if (!quality.refusal.empty()) notes.push_back("no wall times after changes: " + quality.refusal);
  if (!quality.range_only.empty()) notes.push_back("ranges only: " + quality.range_only);
  if (quality.clock_shift_us != 0) {
    notes.push_back(fmt::format("GPU times were moved by about {} us: the two clocks disagreed",
                                Rounded(quality.clock_shift_us)));
  }
  if (quality.hidden_waits > 0) {
    notes.push_back(
        fmt::format("{} stretches of silence of the host are taken for waits for the "
                    "GPU that no recorded call shows",
                    quality.hidden_waits));
  }
  return notes;
}

void ExplainNothingToSimulate(Answer* answer) {
  answer->summary =
      "There is nothing to simulate: the trace has no GPU work, or no calls that launch it.";
  answer->notes = {"record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"};
}

}  // namespace jarvis::tools
