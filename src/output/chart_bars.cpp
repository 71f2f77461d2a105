// Bars beside each other or below each other.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "output/chart_kinds.h"

namespace jarvis::output {
namespace {

std::optional<double> ValueAt(const ChartSeries& series, std::size_t group) {
  if (group >= series.y.size() || !series.y[group] || !std::isfinite(*series.y[group])) {
    return std::nullopt;
  }
  return series.y[group];
}

std::string ColourOf(const BarChart& body, std::size_t series, double value) {
  if (!body.by_sign) return SeriesColour(series, body.series.size());
  const bool better = body.lower_is_better ? value < 0 : value > 0;
  return std::string(better ? kBetterColour : kWorseColour);
}

void LegendOf(ChartFrame& frame, const BarChart& body) {
  std::vector<LegendEntry> entries;
  if (body.by_sign) {
    entries = {{"better", std::string(kBetterColour)}, {"worse", std::string(kWorseColour)}};
  } else {
    for (std::size_t i = 0; i < body.series.size(); ++i) {
      if (!body.series[i].label.empty())
        entries.push_back({body.series[i].label, SeriesColour(i, body.series.size())});
    }
  }
  if (!entries.empty()) frame.Legend(entries);
}

// The figure at the end of a bar, where bars are thick enough for one each.
void Figure(ChartFrame& frame, const BarChart& body, const PlotArea& plot, double value,
            SvgPoint end, double thickness, bool negative) {
  const std::string text = ValueText(value);
  const double width = WordsWidth(text, kChartText);
  const std::string_view ink = frame.colours().ink;
  if (body.horizontal) {
    if (thickness < kChartText) return;
    double left = negative ? end.first - 4 - width : end.first + 4;
    left = std::clamp(left, plot.area.left + 2, plot.area.right - width - 2);
    frame.svg().Words({left, end.second + kChartText * 0.35}, text,
                      {.size = kChartText, .fill = ink});
  } else if (width + 4 <= thickness) {
    const double y = negative ? end.second + kChartText * 1.1 : end.second - 4;
    frame.svg().Words({end.first, std::clamp(y, plot.area.top + kChartText, plot.area.bottom - 2)},
                      text, {.anchor = "middle", .size = kChartText, .fill = ink});
  }
}

}  // namespace

ChartExtents ExtentsOf(const BarChart& body) {
  ChartExtents extents;
  for (const ChartSeries& series : body.series) {
    for (std::size_t group = 0; group < body.groups.size(); ++group) {
      if (const auto value = ValueAt(series, group)) extents.y.Hold(*value);
    }
  }
  return extents;
}

void Draw(ChartFrame& frame, const Chart& chart, const BarChart& body, const ChartLimits& limits) {
  LegendOf(frame, body);
  const AxisPlan names{.title = chart.x.title, .names = body.groups};
  const AxisPlan values{.title = chart.y.title, .limits = limits.y};
  const PlotArea plot = body.horizontal ? frame.Axes(values, names) : frame.Axes(names, values);
  const double slot = body.horizontal ? plot.y_slot : plot.x_slot;
  constexpr double kFilled = 0.78;
  const double thickness = std::min(slot * kFilled / static_cast<double>(body.series.size()), 60.0);
  const double whole = thickness * static_cast<double>(body.series.size());
  const Scale& scale = body.horizontal ? plot.x : plot.y;
  const double zero = scale.At(0);
  for (std::size_t group = 0; group < body.groups.size(); ++group) {
    for (std::size_t i = 0; i < body.series.size(); ++i) {
      const auto value = ValueAt(body.series[i], group);
      if (!value) continue;
      const double side = (body.horizontal ? plot.Y(group) : plot.X(group)) - whole / 2 +
                          thickness * static_cast<double>(i);
      const double end = scale.At(*value);
      const double from = std::min(zero, end);
      const double length = std::abs(end - zero);
      const std::string colour = ColourOf(body, i, *value);
      const std::string tooltip =
          fmt::format("{}\n{}{}{}", body.groups[group], body.series[i].label,
                      body.series[i].label.empty() ? "" : ": ", ValueText(*value));
      const double thick = std::max(thickness - 1, 0.5);
      if (body.horizontal) {
        frame.svg().Rect({from, side}, length, thick, {.fill = colour}, tooltip);
      } else {
        frame.svg().Rect({side, from}, thick, length, {.fill = colour}, tooltip);
      }
      const double middle = side + thickness / 2;
      Figure(frame, body, plot, *value,
             body.horizontal ? SvgPoint{end, middle} : SvgPoint{middle, end}, thickness,
             *value < 0);
    }
  }
  const SvgStyle line{.stroke = frame.colours().faint};
  if (body.horizontal) {
    frame.svg().Line({zero, plot.area.top}, {zero, plot.area.bottom}, line);
  } else {
    frame.svg().Line({plot.area.left, zero}, {plot.area.right, zero}, line);
  }
}

}  // namespace jarvis::output
