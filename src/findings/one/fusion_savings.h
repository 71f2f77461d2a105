// What an instance of a fusion candidate would save as one kernel.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "findings/one/baseline.h"
#include "findings/one/fusion_calls.h"
#include "perf/platform.h"

namespace jarvis::findings {

// What it moves now, and what it would move as one kernel. Absent: too little of it is modelled.
std::optional<std::pair<double, double>> FusionBytes(const FusionCalls& in,
                                                     const FusionInstance& instance);

// What fused attention reaches: the published rate for 16-bit operands, else
// limits::kAttentionOther of the peak; 0: no figure.
struct AttentionTarget {
  double tflops = 0;
  std::string kernels, source;
};
AttentionTarget AttentionTargetOf(double head_size, std::string_view spec,
                                  const perf::Platform& platform);

// Low, mid and high, in microseconds, of the `us` that it takes now; see fusion_finder.h. Absent:
// it cannot be told.
std::optional<std::array<double, 3>> FusionSavingsUs(const FusionCalls& in,
                                                     const FusionInstance& instance,
                                                     const Baseline& baseline, double us);

}  // namespace jarvis::findings
