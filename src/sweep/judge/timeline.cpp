#include "sweep/judge/timeline.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "analysis/attribution/stats.h"
#include "analysis/join/report_compare.h"
#include "base/text.h"
#include "sweep/judge/spread.h"
#include "sweep/scan/config_cells.h"

namespace jarvis::sweep {
namespace {

// One type of time of one configuration.
struct Line {
  std::vector<std::int64_t> ranks;
  std::vector<double> ms;
  std::vector<double> percent;
};
using Lines = std::map<std::string, Line>;  // by type, in the order of their names

Lines LinesOf(const ConfigFacts& config) {
  Lines lines;
  for (const RankFacts& rank : config.ranks) {
    const Table* table = rank.Find("gpu_timeline");
    if (table == nullptr) continue;
    const std::size_t type = analysis::ColumnOf(*table, "type");
    const std::size_t ms = analysis::ColumnOf(*table, "time ms");
    const std::size_t percent = analysis::ColumnOf(*table, "percent");
    for (const auto& row : table->rows) {
      const auto* name = type < row.size() ? std::get_if<std::string>(&row[type]) : nullptr;
      const auto time = ms < row.size() ? analysis::NumberOf(row[ms]) : std::nullopt;
      const auto share = percent < row.size() ? analysis::NumberOf(row[percent]) : std::nullopt;
      if (name == nullptr || !time || !share) continue;
      Line& line = lines[*name];
      line.ranks.push_back(rank.rank);
      line.ms.push_back(*time);
      line.percent.push_back(*share);
    }
  }
  return lines;
}

double Over(const std::vector<double>& values, Aggregate aggregate) {
  switch (aggregate) {
    case Aggregate::kMean:
      return analysis::PairwiseSum(values) / static_cast<double>(values.size());
    case Aggregate::kGeomean: {
      constexpr double kInsteadOfZero = 1e-10;
      double sum = 0;
      for (const double value : values)
        sum += std::log(value > 0 ? value : kInsteadOfZero);
      return std::exp(sum / static_cast<double>(values.size()));
    }
    case Aggregate::kMedian: return analysis::Median(values);
    case Aggregate::kMax: return *std::max_element(values.begin(), values.end());
  }
  return 0;
}

// What says which configuration a row is of.
std::vector<std::string> ConfigColumns(const Sweep& sweep) {
  if (sweep.threads_by_channels)
    return {"full_config", "threads_num", "thread_config", "channels_num", "channel_config"};
  std::vector<std::string> columns = {"full_config"};
  columns.insert(columns.end(), sweep.axes.begin(), sweep.axes.end());
  return columns;
}

std::vector<Cell> ConfigCells(const Sweep& sweep, const Config& config) {
  std::vector<Cell> cells = {config.label};
  const std::vector<Cell> values = AxisCells(config);
  if (!sweep.threads_by_channels) {
    cells.insert(cells.end(), values.begin(), values.end());
    return cells;
  }
  return {config.label, values[0], config.values[0].text + "thread", values[1],
          config.values[1].text + "ch"};
}

class TimelineMaker {
 public:
  TimelineMaker(const SweepFacts& facts, Aggregate aggregate)
      : facts_(facts), aggregate_(aggregate) {
    for (const ConfigFacts& config : facts.configs) {
      lines_.push_back(LinesOf(config));
      for (const auto& [type, line] : lines_.back())
        types_[type] = true;
    }
    for (std::size_t c = 0; c < facts.configs.size(); ++c) {
      if (!lines_[c].empty()) shown_.push_back(c);
    }
    by_text_ = shown_;
    if (facts.reference_compat) {
      std::sort(by_text_.begin(), by_text_.end(), [&](std::size_t a, std::size_t b) {
        return facts.sweep.configs[a].label < facts.sweep.configs[b].label;
      });
    }
  }

  std::vector<Table> Make() const {
    std::vector<Table> tables = {AllData(), Pivot("Pivot_Time_ms", &Line::ms),
                                 Pivot("Pivot_Percent", &Line::percent), Summary()};
    if (!facts_.reference_compat) {
      tables.push_back(PerRank());
      tables.push_back(RankSpread());
    }
    return tables;
  }

 private:
  const Config& ConfigAt(std::size_t c) const { return facts_.sweep.configs[c]; }

  Table AllData() const {
    Table table{"All_Data", ConfigColumns(facts_.sweep), {}};
    for (const char* column : {"num_ranks", "type", "time ms", "percent"})
      table.columns.emplace_back(column);
    for (const std::size_t c : shown_) {
      for (const auto& [type, line] : lines_[c]) {
        std::vector<Cell> row = ConfigCells(facts_.sweep, ConfigAt(c));
        row.insert(row.end(), {static_cast<std::int64_t>(line.ranks.size()), type,
                               Over(line.ms, aggregate_), Over(line.percent, aggregate_)});
        table.rows.push_back(std::move(row));
      }
    }
    return table;
  }

  Table Pivot(const char* name, std::vector<double> Line::*values) const {
    Table table{name, {"type"}, {}};
    for (const std::size_t c : by_text_)
      table.columns.push_back(ConfigAt(c).label);
    for (const auto& [type, ignored] : types_) {
      std::vector<Cell> row = {type};
      for (const std::size_t c : by_text_) {
        const auto line = lines_[c].find(type);
        row.push_back(line == lines_[c].end() ? Cell()
                                              : Cell(Over(line->second.*values, aggregate_)));
      }
      table.rows.push_back(std::move(row));
    }
    return table;
  }

  Table Summary() const {
    Table table{"Summary_By_Config", {"full_config"}, {}};
    for (const std::string& axis : facts_.sweep.axes)
      table.columns.push_back(facts_.sweep.threads_by_channels ? axis + "_num" : axis);
    table.columns.emplace_back("num_ranks");
    constexpr const char* kTypes[] = {"computation_time", "exposed_comm_time", "busy_time",
                                      "idle_time", "total_time"};
    for (const char* type : kTypes)
      table.columns.push_back(std::string(type) + "_ms");
    if (!facts_.reference_compat) {
      for (const char* column : {"total_time_ms_max", "slowest_rank", "step_time_ms"})
        table.columns.emplace_back(column);
    }
    for (const std::size_t c : by_text_) {
      std::vector<Cell> row = {ConfigAt(c).label};
      const std::vector<Cell> values = AxisCells(ConfigAt(c));
      row.insert(row.end(), values.begin(), values.end());
      row.emplace_back(static_cast<std::int64_t>(facts_.configs[c].ranks.size()));
      for (const char* type : kTypes) {
        const auto line = lines_[c].find(type);
        row.push_back(line == lines_[c].end() ? Cell() : Cell(Over(line->second.ms, aggregate_)));
      }
      if (!facts_.reference_compat) {
        const auto total = lines_[c].find("total_time");
        if (total != lines_[c].end()) {
          const Line& line = total->second;
          const auto most = std::max_element(line.ms.begin(), line.ms.end());
          row.emplace_back(*most);
          row.emplace_back(line.ranks[static_cast<std::size_t>(most - line.ms.begin())]);
        } else {
          row.resize(row.size() + 2);
        }
        row.push_back(CellOf(StepTimeMs(facts_.configs[c])));
      }
      table.rows.push_back(std::move(row));
    }
    return table;
  }

  Table PerRank() const {
    Table table{"Per_Rank", ConfigColumns(facts_.sweep), {}};
    for (const char* column : {"rank", "type", "time ms", "percent"})
      table.columns.emplace_back(column);
    for (const std::size_t c : shown_) {
      for (const auto& [type, line] : lines_[c]) {
        for (std::size_t i = 0; i < line.ranks.size(); ++i) {
          std::vector<Cell> row = ConfigCells(facts_.sweep, ConfigAt(c));
          row.insert(row.end(), {line.ranks[i], type, line.ms[i], line.percent[i]});
          table.rows.push_back(std::move(row));
        }
      }
    }
    return table;
  }

  Table RankSpread() const {
    Table table{"Rank_Spread", ConfigColumns(facts_.sweep), {}};
    for (const char* column : {"type", "mean_ms", "std_ms", "min_ms", "max_ms", "longest_rank"})
      table.columns.emplace_back(column);
    for (const std::size_t c : shown_) {
      for (const auto& [type, line] : lines_[c]) {
        const Spread spread = SpreadOf(line.ms);
        const auto most = std::max_element(line.ms.begin(), line.ms.end());
        std::vector<Cell> row = ConfigCells(facts_.sweep, ConfigAt(c));
        row.insert(row.end(), {type, spread.mean, CellOf(spread.std), spread.min, spread.max,
                               line.ranks[static_cast<std::size_t>(most - line.ms.begin())]});
        table.rows.push_back(std::move(row));
      }
    }
    return table;
  }

  const SweepFacts& facts_;
  const Aggregate aggregate_;
  std::vector<Lines> lines_;  // by configuration
  std::map<std::string, bool> types_;
  std::vector<std::size_t> shown_;    // configurations with lines
  std::vector<std::size_t> by_text_;  // the same; in compatible mode in the order of their labels
};

}  // namespace

std::optional<Aggregate> AggregateOf(std::string_view name) {
  for (const Aggregate one :
       {Aggregate::kMean, Aggregate::kGeomean, Aggregate::kMedian, Aggregate::kMax}) {
    if (AggregateName(one) == name) return one;
  }
  return std::nullopt;
}

std::string_view AggregateName(Aggregate aggregate) {
  switch (aggregate) {
    case Aggregate::kMean: return "mean";
    case Aggregate::kGeomean: return "geomean";
    case Aggregate::kMedian: return "median";
    case Aggregate::kMax: return "max";
  }
  return "";
}

std::vector<Table> TimelineTables(const SweepFacts& facts, Aggregate aggregate) {
  return TimelineMaker(facts, aggregate).Make();
}

std::vector<double> TimesMs(const ConfigFacts& config, std::string_view type) {
  const Lines lines = LinesOf(config);
  const auto line = lines.find(std::string(type));
  return line == lines.end() ? std::vector<double>() : line->second.ms;
}

std::optional<double> MeanTimeMs(const ConfigFacts& config, std::string_view type) {
  const std::vector<double> values = TimesMs(config, type);
  if (values.empty()) return std::nullopt;
  return Over(values, Aggregate::kMean);
}

}  // namespace jarvis::sweep
