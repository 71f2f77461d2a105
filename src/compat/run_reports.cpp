#include "compat/run_reports.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "analysis/join/report_compare.h"
#include "compat/run_timeline.h"

namespace jarvis::compat {
namespace {

using Row = std::vector<Cell>;

constexpr const char* kKeys[] = {"Collective name", "dtype", "In msg nelems"};

// Positive: less time than the baseline.
double Saved(double baseline, double test) {
  return baseline == 0 ? 0 : (baseline - test) / baseline * 100;
}

Cell Ratio(double baseline, double test) {
  return baseline == 0 ? Cell() : Cell(test / baseline);
}

class Pair {
 public:
  Pair(const RunTables& baseline, const RunTables& test)
      : runs_{&baseline, &test}, timelines_{TimelineOf(baseline), TimelineOf(test)} {}

  std::vector<Table> Make() const {
    return {SummaryRaw(),
            AllRanksRaw(),
            ByRankRaw("GPU_Time_Raw", &analysis::TimelineShare::ms),
            ByRankRaw("GPU_Pct_Raw", &analysis::TimelineShare::percent),
            Combined("NCCL_ImplSync_Raw", &RunTables::summary_implicit_sync),
            Combined("NCCL_Long_Raw", &RunTables::summary_long),
            SummaryCompared(),
            ByRankCompared(),
            CollectivesCompared("NCCL_ImplicitSyncCmp", &RunTables::summary_implicit_sync),
            CollectivesCompared("NCCL_LongCmp", &RunTables::summary_long),
            Dashboard()};
  }

 private:
  const std::string& Label(std::size_t side) const { return runs_[side]->label; }
  std::vector<std::string> Both(const std::string& suffix) const {
    return {Label(0) + suffix, Label(1) + suffix};
  }

  Table SummaryRaw() const {
    Table table{"GPU_Summary_Raw", {"type", "time ms", "percent", "num_ranks", "source"}, {}};
    for (std::size_t side = 0; side < 2; ++side) {
      for (const auto& [type, ranks] : timelines_[side]) {
        const analysis::TimelineShare mean = MeanOf(ranks);
        table.rows.push_back(
            {type, mean.ms, mean.percent, static_cast<std::int64_t>(ranks.size()), Label(side)});
      }
    }
    return table;
  }

  Table AllRanksRaw() const {
    Table table{"GPU_AllRanks_Raw", {"type", "time ms", "percent", "rank", "source"}, {}};
    for (std::size_t side = 0; side < 2; ++side) {
      for (const std::int64_t rank : RanksOf(side)) {
        for (const auto& [type, ranks] : timelines_[side]) {
          const auto share = ranks.find(rank);
          if (share == ranks.end()) continue;
          table.rows.push_back({type, share->second.ms, share->second.percent, rank, Label(side)});
        }
      }
    }
    return table;
  }

  std::set<std::int64_t> RanksOf(std::size_t side) const {
    std::set<std::int64_t> ranks;
    for (const auto& [type, by_rank] : timelines_[side]) {
      for (const auto& [rank, share] : by_rank)
        ranks.insert(rank);
    }
    return ranks;
  }

  Table ByRankRaw(const char* name, double analysis::TimelineShare::*value) const {
    Table table{name, {"type"}, {}};
    std::set<std::int64_t> ranks = RanksOf(0);
    ranks.merge(RanksOf(1));
    for (const std::int64_t rank : ranks)
      table.columns.push_back(std::to_string(rank));
    table.columns.emplace_back("source");
    for (std::size_t side = 0; side < 2; ++side) {
      for (const auto& [type, by_rank] : timelines_[side]) {
        Row row = {type};
        for (const std::int64_t rank : ranks) {
          const auto share = by_rank.find(rank);
          row.push_back(share == by_rank.end() ? Cell() : Cell(share->second.*value));
        }
        row.emplace_back(Label(side));
        table.rows.push_back(std::move(row));
      }
    }
    return table;
  }

  Table Combined(const char* name, const Table* RunTables::*sheet) const {
    Table table{name, {}, {}};
    for (const RunTables* run : runs_) {
      if (run->*sheet == nullptr) continue;
      if (table.columns.empty()) {
        table.columns = (run->*sheet)->columns;
        // Columns that the scripts' report tool did not have.
        std::erase_if(table.columns,
                      [](const std::string& column) { return column.starts_with("node_"); });
      }
      for (const Row& row : (run->*sheet)->rows) {
        Row cells;
        for (const std::string& column : table.columns)
          cells.push_back(analysis::CellAt(*(run->*sheet), row, column));
        cells.emplace_back(run->label);
        table.rows.push_back(std::move(cells));
      }
    }
    table.columns.emplace_back("source");
    return table;
  }

  void AddCompared(const analysis::TimelineShare& base, const analysis::TimelineShare& test,
                   bool status, Row* row) const {
    const double percent = Saved(base.ms, test.ms);
    row->insert(row->end(), {base.ms, test.ms, test.ms - base.ms, percent});
    if (status) row->emplace_back(percent > 1 ? "Better" : percent < -1 ? "Worse" : "Similar");
    row->push_back(Ratio(base.ms, test.ms));
    row->insert(row->end(), {base.percent, test.percent, test.percent - base.percent});
  }

  std::vector<std::string> ComparedColumns(bool status) const {
    std::vector<std::string> columns = Both("_time_ms");
    columns.insert(columns.end(), {"diff_time_ms", "percent_change"});
    if (status) columns.emplace_back("status");
    columns.emplace_back("ratio");
    for (const std::string& column : Both("_percent"))
      columns.push_back(column);
    columns.emplace_back("diff_percent");
    return columns;
  }

  Table SummaryCompared() const {
    Table table{"GPU_Summary_Cmp", {"type"}, {}};
    for (std::string& column : ComparedColumns(false))
      table.columns.push_back(std::move(column));
    for (const auto& [type, ranks] : timelines_[0]) {
      const auto other = timelines_[1].find(type);
      if (other == timelines_[1].end()) continue;
      Row row = {type};
      AddCompared(MeanOf(ranks), MeanOf(other->second), false, &row);
      table.rows.push_back(std::move(row));
    }
    return table;
  }

  Table ByRankCompared() const {
    Table table{"GPU_ByRank_Cmp", {"rank", "type"}, {}};
    for (std::string& column : ComparedColumns(true))
      table.columns.push_back(std::move(column));
    for (const std::int64_t rank : RanksOf(0)) {
      for (const auto& [type, ranks] : timelines_[0]) {
        const auto base = ranks.find(rank);
        const auto other = timelines_[1].find(type);
        if (base == ranks.end() || other == timelines_[1].end()) continue;
        const auto test = other->second.find(rank);
        if (test == other->second.end()) continue;
        Row row = {rank, type};
        AddCompared(base->second, test->second, true, &row);
        table.rows.push_back(std::move(row));
      }
    }
    return table;
  }

  // The first row of each operation that both have, by its keys. The sheet nccl_summary_long has
  // none of the columns that are compared, so nothing but its keys is left of it.
  Table CollectivesCompared(const char* name, const Table* RunTables::*sheet) const {
    struct Metric {
      const char* column;
      double sign;  // 0: no percent
    };
    static constexpr Metric kMetrics[] = {{"comm_latency_mean", -1},
                                          {"algo bw (GB/s)_mean", 1},
                                          {"bus bw (GB/s)_mean", 1},
                                          {"Total comm latency (ms)", -1},
                                          {"count", 0}};
    Table table{name, {std::begin(kKeys), std::end(kKeys)}, {}};
    const Table* base = runs_[0]->*sheet;
    const Table* test = runs_[1]->*sheet;
    if (base == nullptr || test == nullptr) return table;
    const bool has_metrics =
        analysis::ColumnOf(*base, "comm_latency_mean") < base->columns.size() &&
        analysis::ColumnOf(*base, "bus bw (GB/s)_mean") < base->columns.size();
    if (has_metrics) {
      for (const Metric& metric : kMetrics) {
        const std::string column = metric.column;
        for (const std::string& both : Both("_" + column))
          table.columns.push_back(both);
        table.columns.push_back("diff_" + column);
        if (metric.sign != 0) table.columns.push_back("percent_change_" + column);
        table.columns.push_back("ratio_" + column);
      }
    }
    const auto firsts = [](const Table& rows) {
      std::map<std::vector<Cell>, const Row*> first;
      for (const Row& row : rows.rows) {
        std::vector<Cell> key;
        for (const char* column : kKeys)
          key.push_back(analysis::CellAt(rows, row, column));
        first.emplace(std::move(key), &row);
      }
      return first;
    };
    const auto others = firsts(*test);
    for (const auto& [key, row] : firsts(*base)) {
      const auto other = others.find(key);
      if (other == others.end()) continue;
      Row cells = key;
      for (const Metric& metric : kMetrics) {
        if (!has_metrics) break;
        const Cell b = analysis::CellAt(*base, *row, metric.column);
        const Cell t = analysis::CellAt(*test, *other->second, metric.column);
        AddMetric(b, t, metric.sign, &cells);
      }
      table.rows.push_back(std::move(cells));
    }
    return table;
  }

  static void AddMetric(const Cell& base, const Cell& test, double sign, Row* cells) {
    const auto b = analysis::NumberOf(base);
    const auto t = analysis::NumberOf(test);
    cells->insert(cells->end(), {base, test});
    cells->push_back(b && t ? Cell(*t - *b) : Cell());
    if (sign != 0) {
      cells->push_back(b && t && *b != 0 ? Cell(sign * (*t - *b) / *b * 100) : Cell());
    }
    cells->push_back(b && t ? Ratio(*b, *t) : Cell());
  }

  Table Dashboard() const {
    const auto rounded = [](double value) { return std::nearbyint(value * 100) / 100; };
    Table table{
        "Summary_Dashboard", {"Metric", Label(0), Label(1), "Improvement (%)", "Status"}, {}};
    for (const auto& [type, ranks] : timelines_[0]) {
      const auto other = timelines_[1].find(type);
      if (other == timelines_[1].end()) continue;
      const double base = MeanOf(ranks).ms;
      const double test = MeanOf(other->second).ms;
      const double percent = Saved(base, test);
      table.rows.push_back({"GPU_" + type, rounded(base), rounded(test), rounded(percent),
                            percent > 0    ? "Better"
                            : percent < -1 ? "Worse"
                                           : "Similar"});
    }
    return table;
  }

  const RunTables* runs_[2];
  const RunTimeline timelines_[2];
};

}  // namespace

std::vector<Table> PairReport(const RunTables& baseline, const RunTables& test) {
  return Pair(baseline, test).Make();
}

}  // namespace jarvis::compat
