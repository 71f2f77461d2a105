// The report about the collectives of a whole job: digests of its ranks in, tables out.
//
// Times are microseconds; MB and GB are 1024 * 1024 and 1024 * 1024 * 1024 bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/ranks/collective_match.h"
#include "analysis/ranks/collective_sync.h"
#include "table/table.h"

namespace jarvis::analysis {

struct CollectiveReportOptions {
  // mean, median, std, min, max, sum: of the summaries' metrics, in this order.
  std::vector<std::string> aggregations = {"mean", "median", "min", "max"};
  std::optional<std::int64_t> gpus_per_node;  // absent: as many as the first trace lists
  bool heatmap = true;                        // nccl_all2allv_heatmap
};

struct CollectiveReport {
  std::vector<Table> tables;  // in the order of the workbook's sheets
  std::vector<RankWarning> warnings;
  std::vector<SyncedCollective> synced;  // refers to `matching`
  Matching matching;
  // Too many calls for a table of them: nccl_long is not in `tables`, LongRows makes it in pieces.
  bool long_apart = false;
};

// `joint`: of the set; null for the rule of the reference. Both must outlive the result.
// kBadValue: an aggregation that there is not.
Result<CollectiveReport> MakeCollectiveReport(const RankSet& set, const JointTimeline* joint,
                                              const CollectiveReportOptions& options,
                                              const TableRules& rules);

// Rows of nccl_long from the call `first` on, at most `count`, with the columns that all tables
// have.
Table LongRows(const RankSet& set, const CollectiveReport& report,
               const CollectiveReportOptions& options, const TableRules& rules, std::size_t first,
               std::size_t count);

}  // namespace jarvis::analysis
