#include "output/chart_bars.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace jarvis::output {
namespace {

std::optional<double> ValueAt(const ChartSeries& series, std::size_t group) {
  if (group >= series.y.size() || !series.y[group] || !std::isfinite(*series.y[group])) {
    return std::nullopt;
  }
  return series.y[group];
}

std::string ColourOf(const BarChart& body, std::size_t series, double value) {
  if (!body.by_sign) {
    return SeriesColour(series + body.colours_from, body.series.size() + body.colours_from);
  }
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
        entries.push_back({body.series[i].label, ColourOf(body, i, 0)});
    }
  }
  if (!entries.empty()) frame.Legend(entries);
}

struct Bar {
  SvgPoint end;  // the middle of its end
  double length = 0;
  double thickness = 0;
  double value = 0;
  std::string colour;
};

// The figure behind the end of a bar, or within it where there is no room behind it; none where
// bars are too thin.
void Figure(ChartFrame& frame, bool horizontal, const PlotArea& plot, const Bar& bar) {
  const std::string text = ValueText(bar.value);
  const double width = WordsWidth(text, kChartText);
  const double needed = horizontal ? width + 8 : kChartText * 1.4;
  if (horizontal ? bar.thickness < kChartText : width + 4 > bar.thickness) return;
  const double sign = (bar.value < 0) == horizontal ? -1 : 1;  // the way from 0 to the end
  const double end = horizontal ? bar.end.first : bar.end.second;
  const double edge = horizontal ? (sign < 0 ? plot.area.left : plot.area.right)
                                 : (sign < 0 ? plot.area.top : plot.area.bottom);
  const bool behind = (edge - end) * sign >= needed;
  if (!behind && bar.length < needed) return;
  const double middle = end + (behind ? sign : -sign) * needed / 2;
  const SvgPoint at =
      horizontal ? SvgPoint{middle, bar.end.second} : SvgPoint{bar.end.first, middle};
  frame.svg().Words({at.first, at.second + kChartText * 0.35}, text,
                    {.anchor = "middle",
                     .size = kChartText,
                     .fill = behind ? frame.colours().ink : InkOn(bar.colour)});
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
      Figure(frame, body.horizontal, plot,
             {body.horizontal ? SvgPoint{end, middle} : SvgPoint{middle, end}, length, thickness,
              *value, colour});
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
