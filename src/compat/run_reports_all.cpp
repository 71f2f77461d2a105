#include "compat/run_reports_all.h"

#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "analysis/join/report_compare.h"
#include "compat/run_timeline.h"

namespace jarvis::compat {
namespace {

using Row = std::vector<Cell>;

Table AllRunsSummary(std::span<const RunTables> runs, const std::vector<RunTimeline>& timelines,
                     const std::set<std::string>& types) {
  Table table{"Summary", {"type"}, {}};
  for (const RunTables& run : runs) {
    for (const char* column : {"time ms_", "percent_", "num_ranks_"})
      table.columns.push_back(column + run.label);
  }
  for (const RunTables& run : runs.subspan(1))
    table.columns.push_back("percentage_change_" + run.label);
  for (const std::string& type : types) {
    Row row = {type};
    std::vector<std::optional<double>> ms;
    for (const RunTimeline& timeline : timelines) {
      const auto found = timeline.find(type);
      ms.emplace_back();
      if (found == timeline.end()) {
        row.insert(row.end(), {Cell(), Cell(), Cell()});
        continue;
      }
      const analysis::TimelineShare mean = MeanOf(found->second);
      ms.back() = mean.ms;
      row.insert(row.end(),
                 {mean.ms, mean.percent, static_cast<std::int64_t>(found->second.size())});
    }
    for (std::size_t i = 1; i < ms.size(); ++i) {
      const bool known = ms[0] && ms[i] && *ms[0] != 0;
      row.push_back(known ? Cell((*ms[i] - *ms[0]) / *ms[0] * 100) : Cell());
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table AllRunsByRank(std::span<const RunTables> runs, const std::vector<RunTimeline>& timelines,
                    const std::set<std::string>& types) {
  Table table{"Per_Rank_Time_ms", {"type"}, {}};
  for (const RunTables& run : runs) {
    for (const auto& [rank, timeline] : run.timelines)
      table.columns.push_back(fmt::format("{}_{}", rank, run.label));
  }
  for (const std::string& type : types) {
    Row row = {type};
    for (std::size_t r = 0; r < runs.size(); ++r) {
      const auto found = timelines[r].find(type);
      for (const auto& [rank, table_of_rank] : runs[r].timelines) {
        const bool known = found != timelines[r].end() && found->second.contains(rank);
        row.push_back(known ? Cell(found->second.at(rank).ms) : Cell());
      }
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

// Operations are told apart by "<collective>_<elements>" alone; of several the first row counts.
Table AllRunsCollectives(std::span<const RunTables> runs) {
  Table table{"NCCL_Summary", {}, {}};
  std::map<std::string, std::size_t> places;
  std::size_t index_column = 0;
  for (const RunTables& run : runs) {
    const Table* sheet = run.summary_implicit_sync;
    if (sheet == nullptr) continue;
    const std::size_t before = table.columns.size();
    const bool first = before == 0;
    for (const std::string& column : sheet->columns)
      table.columns.push_back(column + "_" + run.label);
    if (first) {
      index_column = table.columns.size();
      table.columns.emplace_back("index");
    }
    std::set<std::size_t> seen;
    for (const Row& cells : sheet->rows) {
      const Cell name = analysis::CellAt(*sheet, cells, "Collective name");
      const auto elements = analysis::NumberOf(analysis::CellAt(*sheet, cells, "In msg nelems"));
      const auto* text = std::get_if<std::string>(&name);
      const std::string index =
          fmt::format("{}_{:.0f}", text == nullptr ? "" : *text, elements.value_or(0));
      const std::size_t place = places.emplace(index, places.size()).first->second;
      if (!seen.insert(place).second) continue;
      if (place == table.rows.size()) {
        Row row(before);
        if (!first) row[index_column] = index;
        table.rows.push_back(std::move(row));
      }
      Row& row = table.rows[place];
      row.resize(before);
      row.insert(row.end(), cells.begin(), cells.end());
      row.resize(before + sheet->columns.size());
      if (first) row.emplace_back(index);
    }
    for (Row& row : table.rows)
      row.resize(table.columns.size());
  }
  return table;
}

}  // namespace

std::vector<Table> AllRunsReport(std::span<const RunTables> runs) {
  std::vector<RunTimeline> timelines;
  std::set<std::string> types;
  for (const RunTables& run : runs) {
    timelines.push_back(TimelineOf(run));
    for (const auto& [type, ranks] : timelines.back())
      types.insert(type);
  }
  return {AllRunsSummary(runs, timelines, types), AllRunsByRank(runs, timelines, types),
          AllRunsCollectives(runs)};
}

}  // namespace jarvis::compat
