#include "sweep/judge/compare_runs.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "analysis/attribution/stats.h"
#include "analysis/join/report_compare.h"
#include "analysis/join/timeline_shares.h"
#include "compat/run_reports.h"
#include "compat/run_reports_all.h"

namespace jarvis::sweep {
namespace {

using Row = std::vector<Cell>;

struct Share {
  std::int64_t rank = 0;
  double ms = 0;
  double percent = 0;
};
using Timeline = std::map<std::string, std::vector<Share>>;  // by type; by rank

const ConfigFacts* ConfigOf(const NamedRun& run) {
  return run.facts->configs.empty() ? nullptr : &run.facts->configs.front();
}

Timeline TimelineOf(const NamedRun& run) {
  Timeline timeline;
  const ConfigFacts* config = ConfigOf(run);
  if (config == nullptr) return timeline;
  for (const RankFacts& rank : config->ranks) {
    const Table* table = rank.Find("gpu_timeline");
    if (table == nullptr) continue;
    for (const auto& [type, share] : analysis::TimelineShares(*table))
      timeline[type].push_back({rank.rank, share.ms, share.percent});
  }
  return timeline;
}

double Mean(const std::vector<Share>& shares, double Share::*value) {
  std::vector<double> values;
  for (const Share& share : shares)
    values.push_back(share.*value);
  return analysis::PairwiseSum(values) / static_cast<double>(values.size());
}

double Slowest(const std::vector<Share>& shares) {
  return std::max_element(shares.begin(), shares.end(),
                          [](const Share& a, const Share& b) { return a.ms < b.ms; })
      ->ms;
}

enum class Better { kLess, kMore };

// change_pct, speedup, verdict. A baseline has none of itself.
void AddChange(std::optional<double> base, std::optional<double> value, Better better,
               double threshold_pct, Row* row) {
  if (!base || !value || *base == 0) {
    row->insert(row->end(), {Cell(), Cell(), Cell()});
    return;
  }
  const double change = (*value - *base) / *base * 100;
  const double gain = better == Better::kLess ? -change : change;
  row->emplace_back(change);
  const double over = better == Better::kLess ? *value : *base;
  row->push_back(over == 0 ? Cell() : Cell((better == Better::kLess ? *base : *value) / over));
  row->emplace_back(gain > threshold_pct ? "better" : gain < -threshold_pct ? "worse" : "similar");
}

Table TimelineTable(std::span<const NamedRun> runs, const std::vector<Timeline>& timelines,
                    double threshold_pct) {
  Table table{"runs_timeline",
              {"run", "type", "ranks", "time_ms", "slowest_rank_ms", "percent", "change_pct",
               "speedup", "verdict"},
              {}};
  for (std::size_t r = 0; r < runs.size(); ++r) {
    for (const auto& [type, shares] : timelines[r]) {
      const double ms = Mean(shares, &Share::ms);
      Row row = {runs[r].label,
                 type,
                 static_cast<std::int64_t>(shares.size()),
                 ms,
                 Slowest(shares),
                 Mean(shares, &Share::percent)};
      const auto base = timelines[0].find(type);
      const bool comparable = r > 0 && base != timelines[0].end();
      AddChange(comparable ? std::optional(Mean(base->second, &Share::ms)) : std::nullopt, ms,
                Better::kLess, threshold_pct, &row);
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Table ByRankTable(std::span<const NamedRun> runs, const std::vector<Timeline>& timelines,
                  double threshold_pct) {
  Table table{"runs_by_rank",
              {"run", "rank", "type", "time_ms", "percent", "change_pct", "speedup", "verdict"},
              {}};
  for (std::size_t r = 0; r < runs.size(); ++r) {
    std::map<std::pair<std::int64_t, std::string>, const Share*> sorted;
    for (const auto& [type, shares] : timelines[r]) {
      for (const Share& share : shares)
        sorted[{share.rank, type}] = &share;
    }
    for (const auto& [key, share] : sorted) {
      Row row = {runs[r].label, share->rank, key.second, share->ms, share->percent};
      std::optional<double> base;
      const auto found = timelines[0].find(key.second);
      if (r > 0 && found != timelines[0].end()) {
        for (const Share& one : found->second)
          base = one.rank == share->rank ? std::optional(one.ms) : base;
      }
      AddChange(base, share->ms, Better::kLess, threshold_pct, &row);
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

const Table* SheetOf(const NamedRun& run, std::string_view name) {
  const ConfigFacts* config = ConfigOf(run);
  if (config == nullptr || !config->with_collectives) return nullptr;
  for (const Table& table : config->collectives.tables) {
    if (table.name == name) return &table;
  }
  return nullptr;
}

// What makes rows of two runs the same operation.
std::vector<Cell> OperationOf(const Table& table, const Row& row) {
  std::vector<Cell> key;
  for (const char* column :
       {"Collective name", "dtype", "In msg nelems", "Process Group Name", "Group size"})
    key.push_back(analysis::CellAt(table, row, column));
  return key;
}

Table CollectivesTable(std::span<const NamedRun> runs, double threshold_pct) {
  struct Metric {
    const char* column;
    const char* name;
    Better better;
  };
  static constexpr Metric kMetrics[] = {
      {"comm_latency_mean", "latency_us", Better::kLess},
      {"bus bw (GB/s)_mean", "bus_gib_s", Better::kMore},
      {"Total comm latency (ms)", "total_ms", Better::kLess},
  };
  Table table{"runs_collectives",
              {"run", "collective", "dtype", "elements", "process_group", "group_size", "count"},
              {}};
  for (const Metric& metric : kMetrics) {
    const std::string name = metric.name;
    for (const char* suffix : {"", "_change_pct", "_speedup", "_verdict"})
      table.columns.push_back(name + suffix);
  }
  std::map<std::vector<Cell>, const Row*> baseline;
  const Table* first = SheetOf(runs[0], "nccl_summary_implicit_sync");
  if (first != nullptr) {
    for (const Row& row : first->rows)
      baseline.emplace(OperationOf(*first, row), &row);
  }
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const Table* sheet = SheetOf(runs[r], "nccl_summary_implicit_sync");
    if (sheet == nullptr) continue;
    for (const Row& cells : sheet->rows) {
      const std::vector<Cell> key = OperationOf(*sheet, cells);
      const auto base = baseline.find(key);
      Row row = {runs[r].label};
      row.insert(row.end(), key.begin(), key.end());
      row.push_back(analysis::CellAt(*sheet, cells, "count"));
      for (const Metric& metric : kMetrics) {
        const Cell value = analysis::CellAt(*sheet, cells, metric.column);
        row.push_back(value);
        const bool comparable = r > 0 && base != baseline.end();
        AddChange(comparable
                      ? analysis::NumberOf(analysis::CellAt(*first, *base->second, metric.column))
                      : std::nullopt,
                  analysis::NumberOf(value), metric.better, threshold_pct, &row);
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

compat::RunTables RunTablesOf(const NamedRun& run) {
  compat::RunTables tables;
  tables.label = run.label;
  tables.summary_implicit_sync = SheetOf(run, "nccl_summary_implicit_sync");
  tables.summary_long = SheetOf(run, "nccl_summary_long");
  const ConfigFacts* config = ConfigOf(run);
  if (config != nullptr) {
    for (const RankFacts& rank : config->ranks) {
      if (const Table* timeline = rank.Find("gpu_timeline")) {
        tables.timelines.emplace_back(rank.rank, timeline);
      }
    }
  }
  return tables;
}

}  // namespace

std::vector<std::string> DifferentLabels(std::vector<std::string> labels) {
  std::set<std::string> seen;
  for (std::string& label : labels) {
    const std::string wanted = label;
    for (int again = 2; !seen.insert(label).second; ++again)
      label = fmt::format("{}_{}", wanted, again);
  }
  return labels;
}

std::vector<Table> CompareRuns(std::span<const NamedRun> runs, double threshold_pct) {
  std::vector<Timeline> timelines;
  for (const NamedRun& run : runs)
    timelines.push_back(TimelineOf(run));
  return {TimelineTable(runs, timelines, threshold_pct),
          ByRankTable(runs, timelines, threshold_pct), CollectivesTable(runs, threshold_pct)};
}

std::vector<Table> ReferenceSheets(std::span<const NamedRun> runs) {
  std::vector<compat::RunTables> tables;
  for (const NamedRun& run : runs)
    tables.push_back(RunTablesOf(run));
  if (tables.size() == 2) return compat::PairReport(tables[0], tables[1]);
  return compat::AllRunsReport(tables);
}

}  // namespace jarvis::sweep
