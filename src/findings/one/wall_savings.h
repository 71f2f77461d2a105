// What findings save of the wall time: each one's change is made in the trace's own dependencies,
// and these are replayed (analysis/simulation). Alone, and after those ranked before it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/simulation/simulation.h"
#include "findings/one/finding.h"

namespace jarvis::findings {

struct Analysis;

// What wall times are told of, and how far they can be believed.
struct WallBase {
  bool known = false;      // false: savings are GPU time, nobody knows what they are worth
  std::string why_not;     // a sentence; empty if known
  std::string range_only;  // why middles are not to be told; empty: they may be
  double recorded_ms = 0;  // from the first to the last activity
  // The same without what the profiler cost, where that is a frame artefact; else recorded_ms.
  // Savings are of this.
  double wall_ms = 0;
  double profiler_ms = 0;    // what that leaves out; 0: no artefact
  double host_floor_ms = 0;  // if GPU work took no time
  double gpu_floor_ms = 0;   // if the host took none
  double replay_error_percent = 0;
  double matched_waits_percent = 0;
  double opaque_percent = 0;
  std::optional<Range> together_ms;  // all findings, each by its better way
};

// What profiling cost, and what it did not see.
struct ProfilerShare {
  std::vector<analysis::HostCost> artefact;  // what is left out first; may be empty
  // All that profiling may have cost: what the host would save is at least what it saves without
  // it.
  std::vector<analysis::HostCost> most;
  double unrecorded_ms = 0;  // of the recording: the GPU was busy with what is not recorded
};

// Fills wall_a, wall_b and shows_after of the analysis' findings and puts them in order: the most
// wall time first, those without last. Findings about the host that would not show are left out.
// Without a simulation that answers, all stays as it is. Ids are those that findings get by their
// new order ("f1" is the first).
void FillWallSavings(const trace::EventStore& events, const analysis::Simulation& simulation,
                     ProfilerShare profiler, Analysis* analysis);

}  // namespace jarvis::findings
