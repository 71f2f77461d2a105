// The tables about communication that list kinds of collectives: coll_analysis of one trace,
// nccl_summary_long of many.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/attribution/collective_kernel.h"
#include "analysis/tables/ops_tables.h"

namespace jarvis::analysis {

struct CollectiveSample {
  Cell rank;
  const CollectiveKeys* keys = nullptr;  // those at one place are of one rank
  double dur_us = 0;
};
// One row per rank and distinct collective, the longest sum first.
Table SummariseCollectives(std::string name, const std::vector<CollectiveSample>& samples,
                           const TableRules& rules);

// One row per distinct collective: what it is, the group it runs in, how much it moves, and the
// time of its kernels in microseconds. Kernels count whether they are linked or not; what was not
// recorded of them is an empty cell. Ordered by time, the longest first. `rank`: of the trace in
// its job, if it says so.
Table CollAnalysis(const TableInput& input, std::optional<std::int64_t> rank);

}  // namespace jarvis::analysis
