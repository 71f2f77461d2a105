#include "analysis/ranks/collective_report.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "analysis/ranks/collective_aggregate.h"
#include "analysis/ranks/collective_all2allv.h"
#include "analysis/ranks/collective_summaries.h"
#include "analysis/ranks/collective_sync.h"
#include "analysis/ranks/node_columns.h"
#include "base/parallel.h"

namespace jarvis::analysis {
namespace {

// Beyond this the columns of each rank are left to nccl_long.
constexpr std::size_t kRankColumnsMax = 256;
// More calls than that are half a gigabyte of cells and no help in a workbook.
constexpr std::size_t kLongRowsMax = 250'000;
void CheckClocks(const JointTimeline& joint, std::vector<RankWarning>* warnings) {
  const auto met = std::count_if(
      joint.collectives.begin(), joint.collectives.end(),
      [](const JointCollective& one) { return one.family != CommFamily::kPointToPoint; });
  if (static_cast<double>(joint.impossible) <= kDoubtfulShare * static_cast<double>(met)) return;
  warnings->push_back(
      {"CLOCKS_APART",
       fmt::format("in {} of {} collectives a rank ended before another began: the "
                   "clocks of the ranks (or the order of their calls) do not agree, "
                   "so skews and waits are not to be trusted",
                   joint.impossible, met)});
}

Table WarningsTable(const std::vector<RankWarning>& warnings) {
  Table table{"warnings", {"code", "message"}, {}};
  for (const RankWarning& warning : warnings)
    table.rows.push_back({warning.code, warning.text});
  return table;
}

// Of ranks that see one device each nobody knows how many share a node.
std::optional<std::int64_t> NodeSize(const RankSet& set, const CollectiveReportOptions& options,
                                     const TableRules& rules) {
  if (options.gpus_per_node)
    return *options.gpus_per_node > 0 ? options.gpus_per_node : std::nullopt;
  if (set.ranks.empty()) return std::nullopt;
  const auto size = set.ranks.front().devices;
  const bool one_each = rules.collectives.own_columns && set.ranks.size() > 1 && size == 1;
  return size && *size > 0 && !one_each ? size : std::nullopt;
}

void Append(std::vector<RankWarning> from, std::vector<RankWarning>* to) {
  for (RankWarning& warning : from)
    to->push_back(std::move(warning));
}

}  // namespace

Result<CollectiveReport> MakeCollectiveReport(const RankSet& set, const JointTimeline* joint,
                                              const CollectiveReportOptions& options,
                                              const TableRules& rules) {
  JV_TRY(CheckAggregations(options.aggregations));
  CollectiveReport report;
  report.warnings = set.warnings;
  report.matching = MatchCollectives(set, joint, rules);
  const Matching& matching = report.matching;
  Append(matching.warnings, &report.warnings);
  report.synced = FindSynced(matching, joint == nullptr, rules);
  if (joint != nullptr) CheckClocks(*joint, &report.warnings);
  const bool own = rules.collectives.own_columns;
  report.long_apart = own && matching.calls.size() > kLongRowsMax;
  const bool rank_columns = !own || set.ranks.size() <= kRankColumnsMax;

  Table long_table;
  Table summary_long;
  Table synced_table;
  Table all2allv;
  Table heatmap;
  std::vector<RankWarning> heatmap_warnings;
  ParallelFor(4, 0, [&](std::size_t part) {
    if (part == 0 && !report.long_apart)
      long_table = NcclLong(set, matching, rules, 0, matching.calls.size());
    if (part == 1) summary_long = NcclSummaryLong(set, matching, rules);
    if (part == 2) {
      synced_table = NcclImplicitSync(set, matching, report.synced, rank_columns, rules);
    }
    if (part == 3) {
      all2allv = NcclAllToAllV(set, matching, rank_columns, rules);
      if (options.heatmap) heatmap = AllToAllVHeatmap(set, matching, rules, &heatmap_warnings);
    }
  });
  Append(std::move(heatmap_warnings), &report.warnings);
  std::vector<Table>& tables = report.tables;
  if (joint != nullptr) tables.push_back(RankSummary(set, *joint));
  tables.push_back(NcclSummaryImplicitSync(matching, report.synced, options, rules));
  tables.push_back(std::move(summary_long));
  if (!all2allv.rows.empty()) tables.push_back(NcclSummaryAllToAllV(all2allv, options, rules));
  if (!heatmap.rows.empty()) tables.push_back(std::move(heatmap));
  if (!report.long_apart) tables.push_back(std::move(long_table));
  tables.push_back(std::move(synced_table));
  if (!all2allv.rows.empty()) tables.push_back(std::move(all2allv));
  tables.push_back(StragglerSummary(set, matching, report.synced, joint, rules));
  if (const auto nodes = NodeSize(set, options, rules)) AddNodeColumns(set, *nodes, &tables);
  if (own && !report.warnings.empty()) tables.push_back(WarningsTable(report.warnings));
  return report;
}

Table LongRows(const RankSet& set, const CollectiveReport& report,
               const CollectiveReportOptions& options, const TableRules& rules, std::size_t first,
               std::size_t count) {
  const std::size_t end = first + std::min(count, report.matching.calls.size() - first);
  std::vector<Table> tables;
  tables.push_back(NcclLong(set, report.matching, rules, first, end));
  if (const auto nodes = NodeSize(set, options, rules)) AddNodeColumns(set, *nodes, &tables);
  return std::move(tables.front());
}

}  // namespace jarvis::analysis
