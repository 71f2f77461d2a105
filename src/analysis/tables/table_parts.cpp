#include "analysis/tables/table_parts.h"

#include <algorithm>

#include "analysis/attribution/arg_text.h"
#include "base/parallel.h"

namespace jarvis::analysis {

void AddPercentages(Table* table, std::size_t column) {
  std::vector<double> values;
  for (const auto& row : table->rows)
    values.push_back(std::get<double>(row[column]));
  const double total = PairwiseSum(values);
  double running = 0;
  table->columns.insert(table->columns.end(), {"Percentage (%)", "Cumulative Percentage (%)"});
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Cell percent = total > 0 ? Cell(values[i] / total * 100) : Cell();
    running += total > 0 ? values[i] / total * 100 : 0;
    table->rows[i].push_back(percent);
    table->rows[i].push_back(total > 0 ? Cell(running) : Cell());
  }
}

StringId ArgumentTexts::Of(StringId raw) {
  if (raw == kNoString) return kNoString;
  const auto [found, added] = of_.try_emplace(raw, kNoString);
  if (added) found->second = pool_.Intern(TupleText(events_.strings[raw]));
  return found->second;
}

void AppendRows(std::size_t count, std::size_t cells_max,
                const std::function<void(std::size_t i, std::vector<Cell>* cells)>& fill,
                Table* table) {
  constexpr std::size_t kAtOnce = 64;  // fewer rows are made before a thread is there for them
  const std::size_t before = table->rows.size();
  table->rows.resize(before + count);
  ParallelFor((count + kAtOnce - 1) / kAtOnce, 0, [&](std::size_t block) {
    for (std::size_t i = block * kAtOnce; i < std::min(count, (block + 1) * kAtOnce); ++i) {
      std::vector<Cell>& cells = table->rows[before + i];
      cells.reserve(cells_max);
      fill(i, &cells);
    }
  });
}

std::optional<Moments> MomentsOf(const std::vector<std::optional<double>>& values) {
  std::vector<double> known;
  for (const std::optional<double>& value : values) {
    if (value) known.push_back(*value);
  }
  if (known.empty()) return std::nullopt;
  return GroupMoments(known);
}

Cell MomentCell(const std::optional<Moments>& moments, double Moments::*which) {
  return moments ? Cell((*moments).*which) : Cell();
}

Cell StdCell(const std::optional<Moments>& moments) {
  return moments ? CellOf(moments->std) : Cell();
}

}  // namespace jarvis::analysis
