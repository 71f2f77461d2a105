// Tables of all_to_allv, in which each rank sends another amount to each other.
#pragma once

#include <vector>

#include "analysis/ranks/collective_match.h"
#include "table/table.h"

namespace jarvis::analysis {

struct CollectiveReportOptions;

// `rank_columns`: with ten columns for each rank.
Table NcclAllToAllV(const RankSet& set, const Matching& matching, bool rank_columns,
                    const TableRules& rules);
// `detailed`: nccl_all2allv.
Table NcclSummaryAllToAllV(const Table& detailed, const CollectiveReportOptions& options,
                           const TableRules& rules);
Table AllToAllVHeatmap(const RankSet& set, const Matching& matching, const TableRules& rules,
                       std::vector<RankWarning>* warnings);

}  // namespace jarvis::analysis
