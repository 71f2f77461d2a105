// How the tensors of a replayed call are filled. A trace holds no values; most kernels do not look
// at them, but an index must lie within its tensor and a variance must be positive.
#pragma once

#include "replay/match.h"

namespace jarvis::replay {

// Sets "init" (and "low", "high", "std" with it) of each tensor: "normal", "uniform", "zeros",
// "ones", "randint" in [low, high), "bernoulli", "offsets" (rising from 0 to high), or null for
// what the operator only writes.
void SetInitialisers(const OpSchema& schema, Match* match);

}  // namespace jarvis::replay
