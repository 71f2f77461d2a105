#include "documents/category_table.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "documents/base_text.h"
#include "documents/markdown_text.h"

namespace jarvis::documents {

namespace {

// Priorities of the findings that are about operations of a category, wherever they are listed.
std::string PrioritiesOf(const findings::Analysis& analysis,
                         const findings::CategoryAnalysis& category) {
  constexpr std::size_t kTold = 4;
  std::string text;
  std::size_t count = 0;
  for (const findings::Finding& finding : analysis.findings) {
    std::set<std::string> about(finding.members.begin(), finding.members.end());
    for (const findings::FusionCandidate& candidate : analysis.fusion.candidates) {
      if (about.contains(candidate.id))
        about.insert(candidate.operations.begin(), candidate.operations.end());
    }
    const bool touches = std::any_of(
        category.operations.begin(), category.operations.end(),
        [&](const findings::Operation& operation) { return about.contains(operation.id); });
    if (!touches) continue;
    if (++count > kTold) break;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", finding.global_rank);
  }
  if (text.empty()) return std::string(kAbsentText);
  return text + (count > kTold ? "..." : "");
}

// Copies are none of what a category computes, whatever op asked for them.
bool IsCopy(const findings::KernelShare& kernel) {
  return kernel.name.starts_with("Memcpy") || kernel.name.starts_with("CopyDeviceTo");
}

double CopyMs(const findings::CategoryAnalysis& category) {
  double ms = 0;
  for (const findings::Operation& operation : category.operations) {
    double us = 0;
    for (const findings::KernelShare& kernel : operation.kernels)
      us += IsCopy(kernel) ? kernel.total_us : 0;
    if (operation.gpu_us > 0) ms += std::min(1.0, us / operation.gpu_us) * OwnMs(operation);
  }
  return std::min(ms, OwnMs(category));
}

struct CategoryRow {
  std::string name;
  double ms = 0;
  std::string calls, rate, priorities;
};

// Of all of a category: no rate of a small part of it, nor of kernels that only start and end.
std::string CategoryRate(const findings::CategoryAnalysis& category) {
  double floor_us = 0;
  for (const findings::Operation& operation : category.operations)
    floor_us += operation.efficiency.launch_floor ? operation.gpu_us : 0;
  if (2 * floor_us > category.gpu_us) return std::string(kAbsentText) + " (launch floor)";
  if (2 * category.modeled_us < category.gpu_us) return std::string(kAbsentText);
  return PctOrDash(category.efficiency);
}

// Copies are a row of their own where they are worth one.
std::vector<CategoryRow> CategoryRows(const findings::Analysis& analysis) {
  constexpr double kCopiesShown = 1;  // percent of the base
  double copies = 0;
  for (const findings::CategoryAnalysis& category : analysis.categories)
    copies += CopyMs(category);
  const bool apart = analysis.base.Percent(copies) >= kCopiesShown;
  std::vector<CategoryRow> rows;
  for (const findings::CategoryAnalysis& category : analysis.categories) {
    const double ms = OwnMs(category) - (apart ? CopyMs(category) : 0);
    if (ms <= 1e-9) continue;
    rows.push_back({CellOfText(category.display_name), ms,
                    EachCalls(analysis, category.calls, category.foreign_calls),
                    CategoryRate(category), PrioritiesOf(analysis, category)});
  }
  const std::string dash(kAbsentText);
  if (apart) rows.push_back({"copies", copies, dash, dash, dash});
  std::stable_sort(rows.begin(), rows.end(),
                   [](const CategoryRow& a, const CategoryRow& b) { return a.ms > b.ms; });
  return rows;
}

}  // namespace

std::string CategoryTable(const findings::Analysis& analysis) {
  constexpr std::size_t kCategoriesMax = 10;
  MarkdownTable table({"Category", "Time", "Share of the " + analysis.base.unit,
                       CallsTitle(analysis), "Efficiency", "Priorities"});
  double rest = 0;
  for (const CategoryRow& row : CategoryRows(analysis)) {
    if (table.rows() == kCategoriesMax) {
      rest += row.ms;
      continue;
    }
    table.Row({row.name, EachMs(analysis, row.ms), BaseShare(analysis, row.ms), row.calls, row.rate,
               row.priorities});
  }
  if (rest > 0) {
    const std::string dash(kAbsentText);
    table.Row({"all others", EachMs(analysis, rest), BaseShare(analysis, rest), dash, dash, dash});
  }
  return table.empty() ? "" : table.text() + "\n";
}

}  // namespace jarvis::documents
