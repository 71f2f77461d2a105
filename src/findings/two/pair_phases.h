// The parts of a unit that both traces have, side by side: by their names, or, where one side
// replays a graph in place of ops of the other, by what both launch around the replays.
#pragma once

#include <string>
#include <vector>

#include "findings/two/balance.h"
#include "findings/two/common_order.h"

namespace jarvis::findings {

// Arrays: of the candidate, of the baseline; of a unit.
struct PairPhase {
  std::string name;
  double count[2] = {0, 0};
  double ms[2] = {0, 0};       // wall time; of named parts the host's
  double busy_ms[2] = {0, 0};  // the GPU works on it
  double idle_ms[2] = {0, 0};  // the GPU has nothing to do meanwhile
};

struct PairPhases {
  bool by_order = false;          // the parts add up to the wall
  std::vector<PairPhase> phases;  // in the order of time; fewer than two: none
};

PairPhases FindPairPhases(const AnalysedSide& candidate, const AnalysedSide& baseline,
                          const Balance& balance, const CommonOrder& order);

}  // namespace jarvis::findings
