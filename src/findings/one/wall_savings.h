// What findings save of the wall time: each one's change is made in the trace's own dependencies,
// and these are replayed (analysis/simulation). Alone, and after those ranked before it.
#pragma once

#include "analysis/simulation/simulation.h"
#include "findings/one/finding.h"
#include "findings/one/time_scope.h"
#include "findings/one/wall_base.h"

namespace jarvis::findings {

struct Analysis;

// Fills wall_a, wall_b, shows_after, minor and the class of the analysis' findings and puts them in
// order: each time what saves the most wall time once those before it are done. Those without a
// saving come last, what happens once before them unless it is most of the recording. Findings
// about the host that would not show are left out. Without a simulation that answers, all stays as
// it is. Ids are those that findings get by their new order ("f1" is the first).
// `ground`: of the same trace; it knows its wall time or says why not.
void FillWallSavings(const trace::EventStore& events, const analysis::Simulation& simulation,
                     const TimeScope& scope, const WallGround& ground, Analysis* analysis);

}  // namespace jarvis::findings
