#include "sweep/judge/variance.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "analysis/join/report_compare.h"
#include "compat/sweep_scripts.h"
#include "sweep/scan/config_cells.h"

namespace jarvis::sweep {
namespace {

constexpr const char* kName = "top5_gemm_kernels_time_variance";
constexpr const char* kShortest = "Kernel Time (µs)_min";
constexpr const char* kLongest = "Kernel Time (µs)_max";

struct RankedRow {
  VarianceRow shown;
  const RankFacts* facts = nullptr;
  const ConfigFacts* config = nullptr;
  std::size_t place = 0;  // row of its GEMM table
};

std::vector<RankedRow> RowsOf(const SweepFacts& facts, std::size_t top_k) {
  std::vector<RankedRow> all;
  const auto by_range = [](const RankedRow& a, const RankedRow& b) {
    return a.shown.range_us > b.shown.range_us;
  };
  for (std::size_t c = 0; c < facts.configs.size(); ++c) {
    for (const RankFacts& rank : facts.configs[c].ranks) {
      const Table* table = rank.Find("GEMM");
      if (table == nullptr) continue;
      const std::size_t shortest = analysis::ColumnOf(*table, kShortest);
      const std::size_t longest = analysis::ColumnOf(*table, kLongest);
      std::vector<RankedRow> mine;
      for (std::size_t r = 0; r < table->rows.size(); ++r) {
        const auto& cells = table->rows[r];
        if (shortest >= cells.size() || longest >= cells.size() || r >= rank.gemm_rows.size())
          continue;
        const auto least = analysis::NumberOf(cells[shortest]);
        const auto most = analysis::NumberOf(cells[longest]);
        if (!least || !most || rank.gemm_rows[r].kernel.empty()) continue;
        mine.push_back({{c, rank.rank, rank.gemm_rows[r].kernel, *least, *most, *most - *least},
                        &rank,
                        &facts.configs[c],
                        r});
      }
      std::stable_sort(mine.begin(), mine.end(), by_range);
      mine.resize(std::min(mine.size(), top_k));
      all.insert(all.end(), std::make_move_iterator(mine.begin()),
                 std::make_move_iterator(mine.end()));
    }
  }
  std::stable_sort(all.begin(), all.end(), by_range);
  return all;
}

// Values, then columns of the GEMM table in the order of their names.
Table BaseTable(const SweepFacts& facts, const std::vector<RankedRow>& rows) {
  Table table{kName, {}, {}};
  for (const std::string& axis : facts.sweep.axes)
    table.columns.push_back(axis == "channels" ? "channel" : axis);
  for (const char* column :
       {"rank", "kernel_name", "kernel_time_min_us", "kernel_time_max_us", "time_diff_us"}) {
    table.columns.emplace_back(column);
  }
  std::set<std::string> names;
  std::set<const RankFacts*> seen;
  for (const RankedRow& row : rows) {
    if (!seen.insert(row.facts).second) continue;
    const Table* gemm = row.facts->Find("GEMM");
    names.insert(gemm->columns.begin(), gemm->columns.end());
  }
  for (const std::string& name : names)
    table.columns.push_back("col_" + name);
  for (const RankedRow& row : rows) {
    std::vector<Cell> cells = AxisCells(facts.sweep.configs[row.shown.config]);
    cells.insert(cells.end(), {row.shown.rank, row.shown.kernel, row.shown.min_us, row.shown.max_us,
                               row.shown.range_us});
    const Table* gemm = row.facts->Find("GEMM");
    for (const std::string& name : names) {
      const std::size_t column = analysis::ColumnOf(*gemm, name);
      cells.push_back(column < gemm->columns.size() ? gemm->rows[row.place][column] : Cell());
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

void AddTimestamps(const std::vector<RankedRow>& rows, Table* table) {
  table->name = std::string(kName) + "_with_timestamps";
  for (const char* column :
       {"min_duration_timestamp_ms", "max_duration_timestamp_ms", "time_between_min_max_ms",
        "min_duration_found_us", "max_duration_found_us"}) {
    table->columns.emplace_back(column);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& extremes = rows[i].facts->gemm_rows[rows[i].place].extremes;
    std::vector<Cell>& cells = table->rows[i];
    if (!extremes) {
      cells.resize(cells.size() + 5);
      continue;
    }
    const double first = extremes->min_start_us / 1000;
    const double last = extremes->max_start_us / 1000;
    cells.insert(cells.end(),
                 {first, last, std::abs(last - first), extremes->min_us, extremes->max_us});
  }
}

// One collective, and what a stretch of time has of several, in whatever unit of time.
struct TimedName {
  std::string name;
  double start = 0;
  double dur = 0;
};
struct Beside {
  std::int64_t count = 0;
  std::string names;       // in the order of the collectives, joined with ';'
  double max_percent = 0;  // of the stretch, by one collective
  std::string max_name;
  double total = 0;  // of the union of all
};

Beside BesideOf(const std::vector<TimedName>& collectives, double start, double dur) {
  Beside beside;
  const double end = start + dur;
  std::vector<Interval<double>> pieces;
  for (const TimedName& one : collectives) {
    const double other_end = one.start + one.dur;
    if (!(one.start < end && other_end > start)) continue;
    pieces.push_back({std::max(start, one.start), std::min(end, other_end)});
    const double percent = dur > 0 ? 100 * (pieces.back().end - pieces.back().start) / dur : 0;
    ++beside.count;
    beside.names += (beside.names.empty() ? "" : ";") + one.name;
    if (percent > beside.max_percent) {
      beside.max_percent = percent;
      beside.max_name = one.name;
    }
  }
  beside.total = Length(Union(std::move(pieces)));
  return beside;
}

// The collectives of one rank, in the order of the table nccl_long; microseconds as in the file.
std::vector<TimedName> CollectivesOf(const ConfigFacts& config, std::int64_t rank) {
  std::vector<TimedName> out;
  if (!config.with_collectives) return out;
  for (const analysis::RankCall& call : config.collectives.matching.calls) {
    const analysis::RankDigest& digest = config.set->ranks[call.rank];
    if (digest.rank != rank) continue;
    const Cell& name = call.keys()[analysis::kCollective];
    const auto* text = std::get_if<std::string>(&name);
    out.push_back(
        {text != nullptr ? *text : call.kind->kernel, call.call->ts_us, call.call->dur_us});
  }
  return out;
}

// What ran beside the slowest call, times in milliseconds. The reference calculates in
// milliseconds since 1970 or boot, where a double has half a nanosecond less than it needs; ours is
// in microseconds since the call's start, and no share exceeds 100 %.
Beside BesideSlowest(const Extremes& extremes, std::vector<TimedName> collectives,
                     bool reference_compat) {
  for (TimedName& one : collectives) {
    one.start = reference_compat ? one.start / 1000 : one.start - extremes.max_start_us;
    one.dur = reference_compat ? one.dur / 1000 : one.dur;
  }
  if (reference_compat) {
    return BesideOf(collectives, compat::ReadBack(extremes.max_start_us / 1000),
                    extremes.max_us / 1000);
  }
  Beside beside = BesideOf(collectives, 0, extremes.max_us);
  beside.max_percent = std::min(100.0, beside.max_percent);
  beside.total /= 1000;
  return beside;
}

void AddOverlap(const SweepFacts& facts, const std::vector<RankedRow>& rows, Table* table) {
  table->name = std::string(kName) + "_with_collective_overlap";
  for (const char* column :
       {"overlapping_collective_count", "overlapping_collective_names", "max_overlap_percentage",
        "max_overlap_collective", "total_overlap_duration_ms"}) {
    table->columns.emplace_back(column);
  }
  std::map<std::pair<std::size_t, std::int64_t>, std::vector<TimedName>> known;
  const auto text = [](const std::string& value) { return value.empty() ? Cell() : Cell(value); };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& extremes = rows[i].facts->gemm_rows[rows[i].place].extremes;
    const auto [collectives, added] = known.try_emplace({rows[i].shown.config, rows[i].shown.rank});
    if (added) collectives->second = CollectivesOf(*rows[i].config, rows[i].shown.rank);
    Beside beside;
    if (extremes) beside = BesideSlowest(*extremes, collectives->second, facts.reference_compat);
    table->rows[i].insert(table->rows[i].end(),
                          {beside.count, text(beside.names), beside.max_percent,
                           text(beside.max_name), beside.total});
  }
}

}  // namespace

std::vector<VarianceRow> VarianceRows(const SweepFacts& facts, std::size_t top_k) {
  std::vector<VarianceRow> shown;
  for (RankedRow& row : RowsOf(facts, top_k))
    shown.push_back(std::move(row.shown));
  return shown;
}

std::vector<Table> VarianceTables(const SweepFacts& facts, std::size_t top_k) {
  const std::vector<RankedRow> rows = RowsOf(facts, top_k);
  std::vector<Table> tables;
  Table table = BaseTable(facts, rows);
  tables.push_back(table);
  AddTimestamps(rows, &table);
  tables.push_back(table);
  AddOverlap(facts, rows, &table);
  tables.push_back(std::move(table));
  return tables;
}

}  // namespace jarvis::sweep
