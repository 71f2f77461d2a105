#include "sweep/draw/page_parts.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "output/chart_share.h"

namespace jarvis::sweep {
namespace {

using output::HtmlCell;
using output::HtmlTable;
using output::HtmlTone;

// The parts of a name, between "_", that another name does not have: what tells two kernels with
// long names apart.
std::string OwnParts(std::string_view name, std::string_view other) {
  constexpr std::size_t kMost = 4;
  const auto parts_of = [](std::string_view text) {
    std::vector<std::string_view> parts;
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t end = std::min(text.find('_', at), text.size());
      if (end > at) parts.push_back(text.substr(at, end - at));
      at = end + 1;
    }
    return parts;
  };
  const std::vector<std::string_view> others = parts_of(other);
  std::string own;
  std::size_t count = 0;
  for (const std::string_view part : parts_of(name)) {
    if (std::find(others.begin(), others.end(), part) != others.end()) continue;
    if (++count > kMost) return own + " ...";
    own += (own.empty() ? "" : " ") + output::Shortened(part, 24);
  }
  return own;
}

// For legends of several rows, so that they do not take it from the plot.
double RoomForLegend(const output::ChartSheet& sheet) {
  constexpr std::size_t kInRow = 3;
  constexpr double kRow = 18;
  std::size_t most = 0;
  for (const output::Chart& chart : sheet.charts) {
    if (const auto* lines = std::get_if<output::LineChart>(&chart.body)) {
      most = std::max(most, lines->series.size());
    } else if (const auto* points = std::get_if<output::ScatterPlot>(&chart.body)) {
      most = std::max(most, points->series.size());
    }
  }
  return kRow * static_cast<double>(std::min<std::size_t>(most / kInRow, 5));
}

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
      row[0].detail = OwnParts(kernel.kernel, kernel.other_kernel);
      row.push_back({.text = kernel.other_kernel,
                     .detail = OwnParts(kernel.other_kernel, kernel.kernel),
                     .code = true});
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
        {"only here", changes.only_test, KernelColumns::kTestOnly},
    };
    std::string summary = fmt::format("{}: {} matched with the baseline", label, changes.matched);
    for (const List& one : lists) {
      summary += fmt::format("; {}: {}", one.what, one.list.kernels.size() + one.list.more);
    }
    section.blocks.emplace_back(output::HtmlText{summary + "."});
    for (const List& one : lists) {
      if (one.list.kernels.empty()) continue;
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

output::HtmlFigure PageFigure(output::ChartSheet sheet, std::string caption, bool wide) {
  // Small enough for a telephone, where it is not made much smaller; pages make it larger.
  constexpr double kWidth = 460;
  constexpr double kWide = 1100;
  const double ratio = sheet.height / std::max(sheet.width, 1.0);
  constexpr std::size_t kColumns = 3;
  sheet.columns = wide ? std::clamp<std::size_t>(sheet.charts.size(), 1, kColumns) : 1;
  sheet.width = (wide ? kWide : kWidth) / static_cast<double>(sheet.columns);
  sheet.height = std::clamp(sheet.width * ratio, 320.0, 520.0) + RoomForLegend(sheet);
  sheet.title.clear();
  if (sheet.charts.size() == 1) sheet.charts.front().title.clear();
  return {std::move(caption), output::RenderSheet(sheet, output::ChartTheme::kPage), wide};
}

output::HtmlFigures SharedFigures(std::span<output::ChartSheet* const> sheets,
                                  std::span<const std::string> labels) {
  output::ShareAxes(sheets);
  output::HtmlFigures figures;
  if (!sheets.empty()) figures.title = output::TitleOf(*sheets.front());
  for (std::size_t i = 0; i < sheets.size(); ++i)
    figures.figures.push_back(PageFigure(*sheets[i], i < labels.size() ? labels[i] : ""));
  return figures;
}

output::HtmlFigures AllFigures(std::span<const SweepPlot* const> plots) {
  constexpr double kWide = 1000;  // natural width of pictures with many names or much time
  output::HtmlFigures figures;
  for (const SweepPlot* plot : plots) {
    if (!output::HasData(plot->sheet)) continue;
    const std::size_t columns =
        plot->sheet.columns == 0 ? plot->sheet.charts.size() : plot->sheet.columns;
    const bool wide = plot->sheet.width * static_cast<double>(columns) > kWide;
    figures.figures.push_back(PageFigure(plot->sheet, output::TitleOf(plot->sheet), wide));
  }
  // Those of the whole width last, so that no row is half empty.
  std::stable_partition(figures.figures.begin(), figures.figures.end(),
                        [](const output::HtmlFigure& figure) { return !figure.wide; });
  return figures;
}

}  // namespace jarvis::sweep
