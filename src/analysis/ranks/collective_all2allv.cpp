#include "analysis/ranks/collective_all2allv.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "analysis/attribution/stats.h"
#include "analysis/ranks/collective_aggregate.h"
#include "analysis/ranks/collective_report.h"
#include "analysis/ranks/node_columns.h"

namespace jarvis::analysis {
namespace {

// Whole numbers that doubles hold exactly end here.
constexpr double kWholeMax = 9007199254740992.0;
constexpr std::int64_t kHeatmapRanksMax = 1024;
constexpr std::int64_t kHeatmapRanksLarge = 256;

std::optional<double> GbPerSecond(double mb, double us) {
  if (!(us > 0)) return std::nullopt;
  return mb / 1024 / (us / 1e6);
}

struct Instance {
  const MatchedCollective* collective;
  std::vector<const RankCall*> calls;
  double first_start = 0;
  double last_end = 0;
  std::optional<double> total_mb;
  std::vector<Cell> cells;
};

Instance Measure(const MatchedCollective& collective, const Matching& matching,
                 const TableRules& rules) {
  Instance made{&collective, {}, 0, 0, 0.0, {}};
  std::vector<double> durations;
  std::vector<double> sizes;
  std::vector<double> rates;
  double elements = 0;
  bool sized = true;
  bool counted = true;
  double last_start = 0;
  double first_end = 0;
  for (const std::size_t i : collective.calls) {
    const RankCall& call = matching.calls[i];
    const bool first = made.calls.empty();
    made.calls.push_back(&call);
    made.first_start = first ? call.time.start : std::min(made.first_start, call.time.start);
    made.last_end = first ? call.time.end : std::max(made.last_end, call.time.end);
    last_start = first ? call.time.start : std::max(last_start, call.time.start);
    first_end = first ? call.time.end : std::min(first_end, call.time.end);
    durations.push_back(call.time.dur);
    const auto mb = MegabytesOf(call.keys(), kIn, rules.collectives);
    const auto count = RecordedNumber(call.keys()[kIn]);
    sized = sized && mb;
    counted = counted && count;
    if (mb) sizes.push_back(*mb);
    if (count) elements += *count;
    if (mb && *mb > 0 && call.time.dur > 0) rates.push_back(*GbPerSecond(*mb, call.time.dur));
  }
  const CollectiveKeys& keys = made.calls.front()->keys();
  made.total_mb = sized ? std::optional(PairwiseSum(sizes)) : std::nullopt;
  const double wall = made.last_end - made.first_start;
  const auto n = static_cast<double>(durations.size());
  const auto extreme = [](const std::vector<double>& of, bool largest) {
    if (of.empty()) return Cell();
    return Cell(largest ? *std::max_element(of.begin(), of.end())
                        : *std::min_element(of.begin(), of.end()));
  };
  std::optional<double> imbalance;
  if (sized && *made.total_mb > 0) {
    imbalance = *std::max_element(sizes.begin(), sizes.end()) / (*made.total_mb / n);
  }
  made.cells = {collective.id,
                keys[kGroup],
                keys[kRanks],
                keys[kCollective],
                keys[kGroupSize],
                keys[kDtype],
                keys[kStream],
                CellOf(made.total_mb),
                counted && std::abs(elements) < kWholeMax
                    ? Cell(static_cast<std::int64_t>(std::llround(elements)))
                    : Cell(),
                wall,
                extreme(durations, true),
                extreme(durations, false),
                PairwiseSum(durations) / n,
                sized ? CellOf(GbPerSecond(*made.total_mb, wall)) : Cell(),
                extreme(rates, true),
                extreme(rates, false),
                CellOf(imbalance),
                last_start - made.first_start,
                made.last_end - first_end};
  return made;
}

// Eight columns per rank, then two.
void AddRankCells(const RankSet& set, const Instance& one, const TableRules& rules,
                  std::vector<Cell>* row) {
  constexpr std::size_t kColumns = 8;
  const std::size_t ranks = set.ranks.size();
  std::vector<Cell> cells((kColumns + 2) * ranks);
  double first_end = one.last_end;
  for (const RankCall* call : one.calls)
    first_end = std::min(first_end, call->time.end);
  for (const RankCall* call : one.calls) {
    Cell* at = &cells[call->rank * kColumns];
    const CollectiveKeys& keys = call->keys();
    const Cell values[kColumns] = {call->time.shown_start,
                                   call->time.dur,
                                   keys[kIn],
                                   keys[kOut],
                                   CellOf(MegabytesOf(keys, kIn, rules.collectives)),
                                   CellOf(MegabytesOf(keys, kOut, rules.collectives)),
                                   keys[kInSplit],
                                   keys[kOutSplit]};
    std::copy(std::begin(values), std::end(values), at);
    cells[kColumns * ranks + 2 * call->rank] = call->time.start - one.first_start;
    cells[kColumns * ranks + 2 * call->rank + 1] = rules.collectives.skew_before_last_end
                                                       ? one.last_end - call->time.end
                                                       : call->time.end - first_end;
  }
  row->insert(row->end(), cells.begin(), cells.end());
}

std::size_t ColumnOf(const Table& table, std::string_view name) {
  const auto found = std::find(table.columns.begin(), table.columns.end(), name);
  return static_cast<std::size_t>(found - table.columns.begin());
}

bool IsAllToAllV(const RankCall& call, const TableRules& rules) {
  const auto* name = std::get_if<std::string>(&call.keys()[kCollective]);
  return name != nullptr && rules.collectives.type_of(*name) == CollectiveType::kAllToAllV;
}

}  // namespace

Table NcclAllToAllV(const RankSet& set, const Matching& matching, bool rank_columns,
                    const TableRules& rules) {
  Table table{
      "nccl_all2allv",
      {"collective_id", "Process Group Name", "Process Group Ranks", "Collective name",
       "Group size", "dtype", "stream", "total data communicated (MB)", "total nelems communicated",
       "wall_time (us)", "max_rank_dur (us)", "min_rank_dur (us)", "avg_rank_dur (us)",
       "throughput (GB/s)", "max_rank_throughput (GB/s)", "min_rank_throughput (GB/s)",
       "size_imbalance", "skew in start time", "skew in end time"},
      {}};
  if (rank_columns) {
    for (const RankDigest& digest : set.ranks) {
      for (const char* what : {"ts", "dur", "In msg nelems", "Out msg nelems", "In msg size (MB)",
                               "Out msg size (MB)", "In split size", "Out split size"})
        table.columns.push_back(fmt::format("rank_{}_{}", *digest.rank, what));
    }
    for (const RankDigest& digest : set.ranks) {
      table.columns.push_back(fmt::format("rank_{}_skew in start time", *digest.rank));
      table.columns.push_back(fmt::format("rank_{}_skew in end time", *digest.rank));
    }
  }
  std::vector<double> totals;
  std::vector<std::vector<Cell>> rows;
  for (const MatchedCollective& collective : matching.collectives) {
    if (collective.type != CollectiveType::kAllToAllV) continue;
    Instance one = Measure(collective, matching, rules);
    totals.push_back(one.total_mb.value_or(-1));
    if (rank_columns) AddRankCells(set, one, rules, &one.cells);
    rows.push_back(std::move(one.cells));
  }
  for (const std::size_t row : rules.descending(totals))
    table.rows.push_back(std::move(rows[row]));
  return table;
}

Table NcclSummaryAllToAllV(const Table& detailed, const CollectiveReportOptions& options,
                           const TableRules& rules) {
  Table table{"nccl_summary_all2allv", {"Process Group Name", "dtype"}, {}};
  struct Metric {
    const char* name;
    bool fixed;  // mean and max whatever was asked for
  };
  const Metric metrics[] = {{"total data communicated (MB)", false},
                            {"wall_time (us)", false},
                            {"throughput (GB/s)", false},
                            {"size_imbalance", true},
                            {"max_rank_dur (us)", true},
                            {"skew in start time", true},
                            {"skew in end time", true}};
  const std::vector<std::string> fixed = {"mean", "max"};
  const auto names = [&](const Metric& metric) -> const std::vector<std::string>& {
    return metric.fixed ? fixed : options.aggregations;
  };
  for (const Metric& metric : metrics) {
    AddAggregateColumns(metric.name, names(metric), &table.columns);
    if (std::string_view(metric.name) == "wall_time (us)")
      table.columns.emplace_back("Total wall_time (us)");
  }
  table.columns.insert(table.columns.end(), {"count", "Process Group Ranks", "Collective name",
                                             "Group size", "Total wall_time (ms)"});
  std::map<std::pair<Cell, Cell>, std::vector<const std::vector<Cell>*>> groups;
  const std::size_t group = ColumnOf(detailed, "Process Group Name");
  const std::size_t dtype = ColumnOf(detailed, "dtype");
  for (const auto& row : detailed.rows)
    groups[{row[group], row[dtype]}].push_back(&row);
  std::vector<double> totals;
  std::vector<std::vector<Cell>> rows;
  for (const auto& [key, members] : groups) {
    std::vector<Cell> row = {key.first, key.second};
    double wall = 0;
    for (const Metric& metric : metrics) {
      const std::size_t column = ColumnOf(detailed, metric.name);
      std::vector<std::optional<double>> values;
      for (const auto* member : members)
        values.push_back(RecordedNumber((*member)[column]));
      AddAggregates(values, names(metric), &row);
      if (std::string_view(metric.name) != "wall_time (us)") continue;
      for (const auto& value : values)
        wall += value.value_or(0);
      row.push_back(wall);
    }
    const std::vector<Cell>& first = *members.front();
    row.insert(row.end(), {static_cast<std::int64_t>(members.size()),
                           first[ColumnOf(detailed, "Process Group Ranks")],
                           first[ColumnOf(detailed, "Collective name")],
                           first[ColumnOf(detailed, "Group size")], wall / 1000});
    totals.push_back(wall);
    rows.push_back(std::move(row));
  }
  for (const std::size_t row : rules.descending(totals))
    table.rows.push_back(std::move(rows[row]));
  return table;
}

Table AllToAllVHeatmap(const RankSet& set, const Matching& matching, const TableRules& rules,
                       std::vector<RankWarning>* warnings) {
  Table table{"nccl_all2allv_heatmap",
              {"src_rank", "dst_rank", "total_sent_MB", "avg_sent_MB", "count"},
              {}};
  const bool any = std::any_of(matching.calls.begin(), matching.calls.end(),
                               [&](const RankCall& call) { return IsAllToAllV(call, rules); });
  const auto world = set.world_size.value_or(set.ranks.empty() ? 0 : *set.ranks.back().rank + 1);
  if (!any) return table;
  if (world > kHeatmapRanksMax) {
    warnings->push_back({"HEATMAP_SKIPPED",
                         fmt::format("the heat map of {} ranks would have {} rows; it is made for "
                                     "at most {} ranks",
                                     world, world * world, kHeatmapRanksMax)});
    return table;
  }
  if (world > kHeatmapRanksLarge) {
    warnings->push_back({"HEATMAP_LARGE", fmt::format("the heat map of {} ranks may have {} rows",
                                                      world, world * world)});
  }
  struct Sent {
    double mb = 0;
    std::int64_t count = 0;
  };
  std::map<std::pair<std::int64_t, std::int64_t>, Sent> sent;
  std::uint64_t unplaced = 0;
  for (const RankCall& call : matching.calls) {
    if (!IsAllToAllV(call, rules)) continue;
    const auto splits = SplitsIn(call.keys()[kInSplit]);
    const auto size = RecordedNumber(call.keys()[kGroupSize]);
    const auto* dtype = std::get_if<std::string>(&call.keys()[kDtype]);
    const auto bytes = dtype == nullptr ? std::nullopt : rules.collectives.element_bytes(*dtype);
    if (!splits || !size || !bytes || splits->empty() ||
        static_cast<double>(splits->size()) != *size)
      continue;
    const auto* ranks_text = std::get_if<std::string>(&call.keys()[kRanks]);
    const auto members = ranks_text == nullptr ? std::vector<std::int64_t>() : RanksIn(*ranks_text);
    // The whole world's positions are its ranks.
    const bool positions = rules.collectives.destination_is_position ||
                           (set.world_size && static_cast<double>(*set.world_size) == *size);
    if (!positions && members.size() != splits->size()) {
      ++unplaced;
      continue;
    }
    for (std::size_t j = 0; j < splits->size(); ++j) {
      const bool by_list =
          !rules.collectives.destination_is_position && members.size() == splits->size();
      const std::int64_t to = by_list ? members[j] : static_cast<std::int64_t>(j);
      Sent& cell = sent[{*set.ranks[call.rank].rank, to}];
      cell.mb += static_cast<double>((*splits)[j]) * static_cast<double>(*bytes) / 1048576;
      ++cell.count;
    }
  }
  if (unplaced > 0) {
    warnings->push_back(
        {"GROUP_UNKNOWN", fmt::format("{} all_to_allv calls are not in the heat map: the ranks of "
                                      "their groups are not recorded",
                                      unplaced)});
  }
  for (const auto& [pair, cell] : sent) {
    table.rows.push_back(
        {pair.first, pair.second, cell.mb, cell.mb / static_cast<double>(cell.count), cell.count});
  }
  return table;
}

}  // namespace jarvis::analysis
