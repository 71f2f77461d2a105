// Tables of all calls (nccl_long), and the summaries over collectives and over ranks.
#pragma once

#include <vector>

#include "analysis/ranks/collective_match.h"
#include "analysis/ranks/collective_sync.h"
#include "table/table.h"

namespace jarvis::analysis {

struct CollectiveReportOptions;

// Of the calls from `first` to `end`.
Table NcclLong(const RankSet& set, const Matching& matching, const TableRules& rules,
               std::size_t first, std::size_t end);
Table NcclSummaryLong(const RankSet& set, const Matching& matching, const TableRules& rules);
Table NcclSummaryImplicitSync(const Matching& matching, const std::vector<SyncedCollective>& synced,
                              const CollectiveReportOptions& options, const TableRules& rules);
// What each rank's communication was: waiting, transfer, unmatched. Not of the reference.
Table RankSummary(const RankSet& set, const JointTimeline& joint);

}  // namespace jarvis::analysis
