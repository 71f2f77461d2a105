// The metrics of the configurations of several sweeps: times, means and slowdowns.
#pragma once

#include <vector>

#include "sweep/draw/page.h"
#include "sweep/judge/compared_sweeps.h"

namespace jarvis::sweep {

// Those that some sweep has, each with a row per configuration.
std::vector<PageMetric> CompareMetrics(const ComparedSweeps& compared);

}  // namespace jarvis::sweep
