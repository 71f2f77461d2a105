// The table about communication: coll_analysis.
#pragma once

#include <optional>

#include "analysis/ops_tables.h"

namespace jarvis::analysis {

// One row a distinct collective: what it is, the group it runs in, how much it moves, and the time
// of its kernels in microseconds. Kernels count whether they are linked or not; what was not
// recorded of them is an empty cell. Ordered by time, the longest first. `rank`: of the trace in
// its job, if it says so.
Table CollAnalysis(const TableInput& input, std::optional<std::int64_t> rank);

}  // namespace jarvis::analysis
