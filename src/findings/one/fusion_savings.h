// What an instance of a fusion candidate would save as one kernel.
#pragma once

#include <array>
#include <optional>
#include <utility>

#include "findings/one/baseline.h"
#include "findings/one/fusion_calls.h"

namespace jarvis::findings {

// What it moves now, and what it would move as one kernel. Absent: too little of it is modelled.
std::optional<std::pair<double, double>> FusionBytes(const FusionCalls& in,
                                                     const FusionInstance& instance);

// Low, mid and high, in microseconds, of the `us` that it takes now; see fusion_finder.h. Absent:
// it cannot be told.
std::optional<std::array<double, 3>> FusionSavingsUs(const FusionCalls& in,
                                                     const FusionInstance& instance,
                                                     const Baseline& baseline, double us);

}  // namespace jarvis::findings
