// The pictures of a comparison of runs that have no grid of configurations.
#pragma once

#include <span>
#include <vector>

#include "sweep/draw/plots.h"
#include "sweep/draw/single_page.h"

namespace jarvis::sweep {

// improvement_chart, abs_time_comparison, gpu_time_heatmap, <type>_by_rank,
// gpu_time_change_percentage_summary_by_rank, and five of the collectives. The first run is the
// baseline.
std::vector<SweepPlot> MakeSinglePlots(std::span<const SingleRun> runs);

}  // namespace jarvis::sweep
