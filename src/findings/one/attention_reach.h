// What attention kernels reach at the sizes at hand. Published rates are those of long sequences;
// a short one pays for loads and a softmax that little arithmetic hides, and a causal one computes
// the blocks on its diagonal whole.
#pragma once

#include <optional>

#include "findings/one/operation.h"
#include "perf/platform.h"

namespace jarvis::findings {

// TFLOPS/s of the work that counts; absent: no rate is published, or the sizes are not known.
std::optional<double> AttentionReach(const Operation& operation, const perf::Platform* platform);

}  // namespace jarvis::findings
