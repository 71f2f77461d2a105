// The comparison of sweeps as tables.
#pragma once

#include <vector>

#include "sweep/draw/page.h"
#include "table/table.h"

namespace jarvis::sweep {

// The page's numbers: sweep_comparison_metrics, sweep_comparison_kernels,
// sweep_comparison_collectives.
std::vector<Table> ComparisonTables(const ComparisonPage& page);

}  // namespace jarvis::sweep
