#include "sweep/page_parts.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace jarvis::sweep {
namespace {

using output::HtmlCell;
using output::HtmlTable;
using output::HtmlTone;

enum class KernelColumns { kChange, kBaseOnly, kTestOnly, kSelection };

HtmlTable KernelTable(std::string caption, const PageKernelList& list, KernelColumns kind) {
  HtmlTable table{.caption = std::move(caption), .columns = {{"Kernel"}}};
  const bool base = kind != KernelColumns::kTestOnly;
  const bool test = kind != KernelColumns::kBaseOnly;
  if (kind == KernelColumns::kSelection) table.columns.push_back({"Kernel now"});
  table.columns.push_back({"Operation"});
  if (base) table.columns.push_back({"Baseline", true, "us, mean"});
  if (test) table.columns.push_back({"Test", true, "us, mean"});
  if (base && test) table.columns.push_back({"Change", true});
  for (const PageKernel& kernel : list.kernels) {
    std::vector<HtmlCell> row = {{.text = kernel.kernel, .code = true}};
    if (kind == KernelColumns::kSelection) {
      row.push_back({.text = kernel.other_kernel, .code = true});
    }
    row.push_back({.text = kernel.op, .detail = kernel.shapes});
    if (base) row.push_back(NumberCell(kernel.base_us));
    if (test) row.push_back(NumberCell(kernel.test_us));
    if (base && test) row.push_back(ChangeCell(kernel.change_pct, kernel.verdict, kernel.why));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

std::string ChangeText(double percent) {
  const double size = std::abs(percent);
  if (size < 0.005) return "0 %";
  const int decimals = size < 1 ? 2 : size < 100 ? 1 : 0;
  return fmt::format("{}{:.{}f} %", percent < 0 ? "−" : "+", size, decimals);
}

HtmlCell NumberCell(const std::optional<double>& value) {
  if (!value || !std::isfinite(*value)) return {.text = "–"};
  const double size = std::abs(*value);
  if (size >= 1e9 || (size > 0 && size < 1e-3)) {
    return {.text = fmt::format("{:.4g}", *value), .value = value};
  }
  return {.text = fmt::format("{:.{}f}", *value,
                              size >= 1000  ? 0
                              : size >= 100 ? 1
                                            : 3),
          .value = value};
}

HtmlCell ChangeCell(const std::optional<double>& percent, PageVerdict verdict,
                    std::string_view why) {
  if (!percent || !std::isfinite(*percent)) return {.text = "–", .detail = std::string(why)};
  HtmlCell cell{.text = ChangeText(*percent), .value = percent};
  std::string_view word;
  switch (verdict) {
    case PageVerdict::kBetter:
      cell.tone = HtmlTone::kBetter;
      word = "better";
      break;
    case PageVerdict::kWorse:
      cell.tone = HtmlTone::kWorse;
      word = "worse";
      break;
    case PageVerdict::kNoise:
      cell.tone = HtmlTone::kNoise;
      word = "within noise";
      break;
    case PageVerdict::kUnknown:
    case PageVerdict::kBaseline: break;
  }
  cell.detail = std::string(word);
  if (!why.empty()) cell.detail += (word.empty() ? "" : "; ") + std::string(why);
  return cell;
}

output::HtmlSection KernelSection(const ComparisonPage& page) {
  output::HtmlSection section{"Kernels", {}};
  for (const PageKernelChanges& changes : page.kernels) {
    const std::string label =
        changes.sweep < page.sweeps.size() ? page.sweeps[changes.sweep].label : "?";
    section.blocks.emplace_back(output::HtmlText{
        fmt::format("{}: {} kernels are in both sweeps.", label, changes.matched)});
    struct List {
      const char* what;
      const PageKernelList& list;
      KernelColumns columns;
    };
    const List lists[] = {
        {"regressed", changes.regressed, KernelColumns::kChange},
        {"improved", changes.improved, KernelColumns::kChange},
        {"another kernel for the same shapes", changes.selection, KernelColumns::kSelection},
        {"only in the baseline", changes.only_base, KernelColumns::kBaseOnly},
        {"only in the test", changes.only_test, KernelColumns::kTestOnly},
    };
    for (const List& one : lists) {
      section.blocks.emplace_back(
          KernelTable(fmt::format("{}: {}", label, one.what), one.list, one.columns));
      if (one.list.more > 0) {
        section.blocks.emplace_back(output::HtmlText{
            fmt::format("{} more are in the files.", one.list.more), HtmlTone::kNoise});
      }
    }
  }
  return section;
}

output::HtmlFigures PageFigures(std::span<output::ChartSheet* const> sheets,
                                std::span<const std::string> labels) {
  output::ShareAxes(sheets);
  output::HtmlFigures figures;
  if (!sheets.empty()) figures.title = output::TitleOf(*sheets.front());
  // One alone has the whole width; several stand side by side.
  const bool alone = sheets.size() == 1;
  for (std::size_t i = 0; i < sheets.size(); ++i) {
    output::ChartSheet sheet = *sheets[i];
    const double wide = sheet.width;
    sheet.width = alone && sheet.charts.size() == 1 ? std::min(wide, 900.0) : 520;
    sheet.height = std::max(300.0, sheet.height * std::min(1.0, 0.35 + sheet.width / wide / 2));
    sheet.columns = alone ? 2 : 1;
    sheet.title.clear();
    if (sheet.charts.size() == 1) sheet.charts.front().title.clear();
    std::string svg = output::RenderSheet(sheet, output::ChartTheme::kPage);
    figures.figures.push_back({i < labels.size() ? labels[i] : "", std::move(svg)});
  }
  return figures;
}

}  // namespace jarvis::sweep
