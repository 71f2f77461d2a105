// The report about the collectives of a whole job: digests of its ranks in, tables out.
//
// Times are microseconds; MB and GB are 1024 * 1024 and 1024 * 1024 * 1024 bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/ranks/collective_match.h"
#include "table/table.h"

namespace jarvis::analysis {

struct CollectiveReportOptions {
  // mean, median, std, min, max, sum: of the summaries' metrics, in this order.
  std::vector<std::string> aggregations = {"mean", "median", "min", "max"};
  std::optional<std::int64_t> gpus_per_node;  // absent: as many as the first trace lists
  bool heatmap = true;                        // nccl_all2allv_heatmap
};

// One collective that every rank of its group waits in.
struct SyncedCollective {
  struct Rank {
    std::size_t call = 0;  // Matching::calls
    double wait = 0;       // from its start to the last rank's
  };
  const MatchedCollective* collective = nullptr;
  std::vector<Rank> ranks;        // by rank
  std::optional<double> full_mb;  // what the collective moves
  double latency = 0;             // the shortest call: it waited for nobody
  double start_skew = 0;          // last start - first start
  double end_skew = 0;            // last end - first end
  std::size_t earliest = 0;       // RankSet::ranks; of several the highest
  std::size_t last = 0;           // ... that came last; of several the lowest
  double mean_wait = 0;
  std::optional<double> algorithm_gb_s;
  std::optional<double> bus_gb_s;
};
std::vector<SyncedCollective> FindSynced(const Matching& matching, const TableRules& rules);

struct CollectiveReport {
  std::vector<Table> tables;  // in the order of the workbook's sheets
  std::vector<RankWarning> warnings;
  std::vector<SyncedCollective> synced;  // refers to `matching`
  Matching matching;
};

// kBadValue: an aggregation that there is not. `set` must outlive the result.
Result<CollectiveReport> MakeCollectiveReport(const RankSet& set,
                                              const CollectiveReportOptions& options,
                                              const TableRules& rules);

// The tables, one by one.
Table NcclLong(const RankSet& set, const Matching& matching, const TableRules& rules);
Table NcclSummaryLong(const RankSet& set, const Matching& matching, const TableRules& rules);
// `rank_columns`: with three columns for each rank.
Table NcclImplicitSync(const RankSet& set, const Matching& matching,
                       const std::vector<SyncedCollective>& synced, bool rank_columns,
                       const TableRules& rules);
Table NcclSummaryImplicitSync(const Matching& matching, const std::vector<SyncedCollective>& synced,
                              const CollectiveReportOptions& options, const TableRules& rules);
Table NcclAllToAllV(const RankSet& set, const Matching& matching, bool rank_columns,
                    const TableRules& rules);
// `detailed`: nccl_all2allv.
Table NcclSummaryAllToAllV(const Table& detailed, const CollectiveReportOptions& options,
                           const TableRules& rules);
Table AllToAllVHeatmap(const RankSet& set, const Matching& matching, const TableRules& rules,
                       std::vector<RankWarning>* warnings);
Table StragglerSummary(const RankSet& set, const Matching& matching,
                       const std::vector<SyncedCollective>& synced, const TableRules& rules);
// What each rank did: time, communication, how much of it computation covers, wait. Not of the
// reference.
Table RankSummary(const RankSet& set, const Matching& matching,
                  const std::vector<SyncedCollective>& synced);

// node_id and node_span as last columns of the tables that have ranks or groups.
void AddNodeColumns(const RankSet& set, std::int64_t gpus_per_node, std::vector<Table>* tables);

// The ranks in "[0, 1, 2, 3]", "(0, 2)" or "0, 2"; of other text the whole numbers in it. Nothing
// if the text is a value of another kind ("{0, 1}", "7", "'a'").
std::vector<std::int64_t> RanksIn(std::string_view text);
// The numbers of a recorded list of splits ("[4, 5]", "(4, 5)"); nothing: not recorded, or no list.
std::optional<std::vector<std::int64_t>> SplitsIn(const Cell& cell);

}  // namespace jarvis::analysis
