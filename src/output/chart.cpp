#include "output/chart.h"

#include <algorithm>
#include <cmath>

#include "output/chart_bars.h"
#include "output/chart_frame.h"
#include "output/chart_groups.h"
#include "output/chart_kinds.h"
#include "output/chart_lines.h"
#include "output/chart_maps.h"
#include "output/svg.h"

namespace jarvis::output {
namespace {

bool HasData(const Chart& chart, const ChartExtents& extents) {
  if (std::holds_alternative<HeatMap>(chart.body)) return extents.colour.limits().has_value();
  if (std::holds_alternative<TimelineStrip>(chart.body)) return extents.x.limits().has_value();
  return extents.y.limits().has_value();
}

// All the room of the axis for data: what bars and strips need where 0 is an edge.
bool FromZero(const Chart& chart, const ChartAxis& axis) {
  const bool value_axis = &axis == &chart.y;
  return axis.from_zero || (std::holds_alternative<BarChart>(chart.body) && value_axis) ||
         (std::holds_alternative<TimelineStrip>(chart.body) && !value_axis);
}

Limits Shown(const Chart& chart, const ChartAxis& axis, Extent extent) {
  extent.Hold(axis.limits);
  if (!extent.limits()) return {};
  return WithRoom(*extent.limits(), FromZero(chart, axis));
}

void DrawChart(Svg& svg, const Chart& chart, ChartTheme theme, const ChartArea& area) {
  ChartFrame frame(svg, theme, area);
  frame.Heading(chart.title, chart.subtitle);
  const ChartExtents extents = ExtentsOfChart(chart);
  if (!HasData(chart, extents)) {
    frame.NoData();
    return;
  }
  const ChartLimits limits{Shown(chart, chart.x, extents.x), Shown(chart, chart.y, extents.y),
                           extents.colour.limits().value_or(Limits{})};
  std::visit([&](const auto& body) { Draw(frame, chart, body, limits); }, chart.body);
}

}  // namespace

ChartExtents ExtentsOfChart(const Chart& chart) {
  return std::visit([](const auto& body) { return ExtentsOf(body); }, chart.body);
}

std::string RenderSheet(const ChartSheet& sheet, ChartTheme theme) {
  constexpr double kSmallest = 160;
  constexpr double kLargest = 8000;
  const double width = std::clamp(sheet.width, kSmallest, kLargest);
  const double height = std::clamp(sheet.height, kSmallest, kLargest);
  const std::size_t count = std::max<std::size_t>(sheet.charts.size(), 1);
  const std::size_t columns = sheet.columns == 0 ? count : std::min(sheet.columns, count);
  const std::size_t rows = (count + columns - 1) / columns;
  const double head = sheet.title.empty() ? 0 : 34;

  Svg svg(width * static_cast<double>(columns), height * static_cast<double>(rows) + head,
          TitleOf(sheet), theme);
  if (!sheet.title.empty()) {
    svg.Words({12, 26}, sheet.title, {.size = 17, .fill = ColoursOf(theme).ink, .bold = true});
  }
  if (sheet.charts.empty()) {
    ChartFrame(svg, theme, {0, head, width, head + height}).NoData();
  }
  for (std::size_t i = 0; i < sheet.charts.size(); ++i) {
    const double left = width * static_cast<double>(i % columns);
    const double top = head + height * static_cast<double>(i / columns);
    DrawChart(svg, sheet.charts[i], theme, {left, top, left + width, top + height});
  }
  return svg.Finish();
}

std::string TitleOf(const ChartSheet& sheet) {
  if (!sheet.title.empty() || sheet.charts.empty()) return sheet.title;
  return sheet.charts.front().title;
}

bool HasData(const ChartSheet& sheet) {
  return std::any_of(sheet.charts.begin(), sheet.charts.end(),
                     [](const Chart& chart) { return HasData(chart, ExtentsOfChart(chart)); });
}

}  // namespace jarvis::output
