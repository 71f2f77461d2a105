// Sweeps side by side: every metric of every configuration, the kernels and the collectives, each
// change against a baseline with what noise it is to be held against.
//
// change_pct = (test - base) / base * 100; of all metrics less is better. A change counts if it is
// at least the threshold and 0 is outside the 95 % interval of the means over ranks (spread.h).
#pragma once

#include <string>
#include <vector>

#include "sweep/draw/page.h"
#include "sweep/measure/facts.h"

namespace jarvis::sweep {

inline constexpr std::size_t kSweepsMax = 8;

struct CompareOptions {
  std::size_t baseline = 0;
  double threshold_pct = 1;
  std::size_t kernels_max = 15;  // of each list in the page
  std::size_t collectives_max = 40;
};

// REQUIRES: 1 to kSweepsMax sweeps, as many labels, a baseline among them.
ComparisonPage CompareSweeps(const std::vector<SweepFacts>& sweeps,
                             const std::vector<std::string>& labels, const CompareOptions& options);

}  // namespace jarvis::sweep
