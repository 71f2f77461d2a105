#include "findings/two/compare_table.h"

#include <fmt/format.h>

#include "base/text.h"

namespace jarvis::findings {
namespace {

Cell Inverse(const std::optional<double>& ratio) {
  return ratio && *ratio > 0 ? Cell(1 / *ratio) : Cell();
}

Cell BoundCell(const CompareRow& row) {
  if (!row.primary_bound || !row.comparison_bound) return Cell();
  const auto text = [](perf::Bound bound) {
    return bound == perf::Bound::kMemory ? "memory" : "compute";
  };
  if (row.primary_bound == row.comparison_bound) return std::string(text(*row.primary_bound));
  return fmt::format("{} / {}", text(*row.primary_bound), text(*row.comparison_bound));
}

Cell ReasonCell(const CompareRow& row) {
  if (row.verdict != CompareVerdict::kUnknown) return Cell();
  switch (row.not_judged) {
    case NotJudged::kNo: return Cell();
    case NotJudged::kCommunication: return std::string("communication");
    case NotJudged::kArguments: return std::string("other arguments or names");
    case NotJudged::kUnknown: return std::string("work or platform not known");
    case NotJudged::kFarFromRoofs: return std::string("neither is near its roof");
    case NotJudged::kShort: return std::string("mostly fixed cost of kernels");
  }
  return Cell();
}

std::vector<Cell> CellsOf(const CompareRow& row, bool shapes) {
  std::vector<Cell> cells = {row.name};
  if (shapes) {
    const std::string shape = row.arguments_differ ? "(other arguments)" : row.shape;
    cells.push_back(shape.empty() ? Cell() : Cell(shape));
  }
  cells.insert(cells.end(),
               {CellOf(row.primary_ms), CellOf(row.comparison_ms), CellOf(row.ratio),
                Inverse(row.ratio), CellOf(row.expected), CellOf(row.unexpected_ms),
                std::string(VerdictText(row.verdict)), CellOf(row.primary_calls),
                CellOf(row.comparison_calls), BoundCell(row), CellOf(row.expected_with_fixed_cost),
                CellOf(row.primary_roof_ms), CellOf(row.comparison_roof_ms), ReasonCell(row)});
  return cells;
}

CompareRow AllUnmatched(const TraceComparison& result, bool primary) {
  CompareRow row;
  row.name = fmt::format("(all {} rows only in {})",
                         primary ? result.only_primary_rows : result.only_comparison_rows,
                         primary ? "candidate" : "baseline");
  if (primary) {
    row.primary_ms = result.only_primary_ms;
    row.unexpected_ms = result.only_primary_ms;
    row.verdict = CompareVerdict::kOnlyInPrimary;
  } else {
    row.comparison_ms = result.only_comparison_ms;
    row.unexpected_ms = 0 - result.only_comparison_ms;
    row.verdict = CompareVerdict::kOnlyInComparison;
  }
  return row;
}

}  // namespace

std::string ShortShape(std::string shape) {
  constexpr std::size_t kLength = 72;
  static constexpr std::string_view kScalar = ", ()";
  while (shape.size() > kScalar.size() + 1 &&
         std::string_view(shape).substr(0, shape.size() - 1).ends_with(kScalar)) {
    shape.erase(shape.size() - 1 - kScalar.size(), kScalar.size());
  }
  return shape.size() > kLength ? std::string(Utf8Prefix(shape, kLength)) + "..." : shape;
}

std::string_view CompareName(analysis::GroupBy by) {
  switch (by) {
    case analysis::GroupBy::kCategory: return "category";
    case analysis::GroupBy::kKernel: return "kernel";
    case analysis::GroupBy::kModule: return "module";
    default: return "op";
  }
}

Table CompareTable(const TraceComparison& result, analysis::GroupBy by) {
  const bool shapes = by == analysis::GroupBy::kOp;
  Table table{fmt::format("compare_by_{}", CompareName(by)), {std::string(CompareName(by))}, {}};
  if (shapes) table.columns.emplace_back("shape");
  table.columns.insert(
      table.columns.end(),
      {"candidate_ms", "baseline_ms", "candidate_over_baseline", "baseline_over_candidate",
       "expected_candidate_over_baseline", "unexpected_ms", "verdict", "candidate_calls",
       "baseline_calls", "bound", "expected_with_fixed_cost", "candidate_roof_ms",
       "baseline_roof_ms", "not_judged"});
  table.rows.reserve(result.rows.size() + kUnmatchedRows);
  table.rows.push_back(CellsOf(AllUnmatched(result, true), shapes));
  table.rows.push_back(CellsOf(AllUnmatched(result, false), shapes));
  for (const CompareRow& row : result.rows)
    table.rows.push_back(CellsOf(row, shapes));
  return table;
}

}  // namespace jarvis::findings
