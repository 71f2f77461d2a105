#include "output/chart_groups.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "output/chart_stats.h"

namespace jarvis::output {
namespace {

ChartExtents SpanOf(const std::vector<ChartGroup>& groups) {
  ChartExtents extents;
  for (const ChartGroup& group : groups) {
    for (const double value : group.values)
      extents.y.Hold(value);
  }
  return extents;
}

PlotArea GroupAxes(ChartFrame& frame, const Chart& chart, const std::vector<ChartGroup>& groups,
                   const ChartLimits& limits) {
  std::vector<std::string> names;
  for (const ChartGroup& group : groups)
    names.push_back(group.label);
  return frame.Axes({.title = chart.x.title, .names = names},
                    {.title = chart.y.title, .limits = limits.y});
}

std::string Summary(const ChartGroup& group, const BoxFigures& box) {
  return fmt::format("{}\nn {}\nmin {}\nquartiles {} to {}\nmedian {}\nmean {}\nmax {}",
                     group.label, box.count, ValueText(box.low), ValueText(box.first_quartile),
                     ValueText(box.third_quartile), ValueText(box.median), ValueText(box.mean),
                     ValueText(box.high));
}

// Half of the width of a box or a violin.
double HalfWidth(const PlotArea& plot, double widest) {
  return std::min(plot.x_slot * 0.36, widest);
}

class Level {
 public:
  Level(ChartFrame& frame, const PlotArea& plot, double x)
      : svg_(frame.svg()), plot_(plot), x_(x) {}
  void operator()(double value, double half, const SvgStyle& style) const {
    const double y = plot_.y.At(value);
    svg_.Line({x_ - half, y}, {x_ + half, y}, style);
  }

 private:
  Svg& svg_;
  const PlotArea& plot_;
  double x_;
};

}  // namespace

ChartExtents ExtentsOf(const BoxPlot& body) {
  return SpanOf(body.groups);
}
ChartExtents ExtentsOf(const ViolinPlot& body) {
  return SpanOf(body.groups);
}

void Draw(ChartFrame& frame, const Chart& chart, const BoxPlot& body, const ChartLimits& limits) {
  const PlotArea plot = GroupAxes(frame, chart, body.groups, limits);
  const double half = HalfWidth(plot, 36);
  const std::string_view ink = frame.colours().ink;
  for (std::size_t i = 0; i < body.groups.size(); ++i) {
    const auto box = BoxOf(body.groups[i].values);
    if (!box) continue;
    const double x = plot.X(i);
    const std::string colour = SeriesColour(i, body.groups.size());
    const auto y = [&](double value) { return plot.y.At(value); };
    const Level level(frame, plot, x);
    const SvgStyle thin{.stroke = ink, .stroke_width = 1};
    frame.svg().Line({x, y(box->low_whisker)}, {x, y(box->first_quartile)}, thin);
    frame.svg().Line({x, y(box->third_quartile)}, {x, y(box->high_whisker)}, thin);
    level(box->low_whisker, half / 2, thin);
    level(box->high_whisker, half / 2, thin);
    const double top = y(box->third_quartile);
    frame.svg().Rect({x - half, top}, 2 * half, y(box->first_quartile) - top,
                     {.stroke = colour, .stroke_width = 1.5, .fill = colour, .opacity = 0.55},
                     Summary(body.groups[i], *box));
    level(box->mean, half, {.stroke = ink, .stroke_width = 1.2, .dash = "4 3"});
    level(box->median, half, {.stroke = ink, .stroke_width = 2.5});
    long last_pixel = -1;  // what would lie on the same pixel is drawn once
    for (const double value : box->outliers) {
      if (std::exchange(last_pixel, std::lround(y(value))) == std::lround(y(value))) continue;
      frame.svg().Circle({x, y(value)}, 3, {.stroke = ink, .stroke_width = 1}, ValueText(value));
    }
  }
}

void Draw(ChartFrame& frame, const Chart& chart, const ViolinPlot& body,
          const ChartLimits& limits) {
  const PlotArea plot = GroupAxes(frame, chart, body.groups, limits);
  const double half = HalfWidth(plot, 70);
  const SvgStyle thin{.stroke = frame.colours().ink, .stroke_width = 1.2};
  for (std::size_t i = 0; i < body.groups.size(); ++i) {
    const auto box = BoxOf(body.groups[i].values);
    if (!box) continue;
    const double x = plot.X(i);
    const std::string colour = SeriesColour(i, body.groups.size());
    const std::vector<SvgPoint> density = DensityOf(body.groups[i].values);
    std::vector<SvgPoint> outline;
    for (const auto& [value, share] : density)
      outline.emplace_back(x + half * share, plot.y.At(value));
    for (auto point = density.rbegin(); point != density.rend(); ++point)
      outline.emplace_back(x - half * point->second, plot.y.At(point->first));
    if (outline.empty()) {  // all values are equal
      outline = {{x - half, plot.y.At(box->median)}, {x + half, plot.y.At(box->median)}};
    }
    frame.svg().Polyline(outline,
                         {.stroke = colour, .stroke_width = 1, .fill = colour, .opacity = 0.6},
                         Summary(body.groups[i], *box));
    const Level level(frame, plot, x);
    frame.svg().Line({x, plot.y.At(box->low)}, {x, plot.y.At(box->high)}, thin);
    level(box->low, half * 0.25, thin);
    level(box->high, half * 0.25, thin);
    level(box->mean, half * 0.3,
          {.stroke = frame.colours().ink, .stroke_width = 1.2, .dash = "4 3"});
    level(box->median, half * 0.5, {.stroke = frame.colours().ink, .stroke_width = 2.5});
  }
}

}  // namespace jarvis::output
