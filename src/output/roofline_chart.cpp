#include "output/roofline_chart.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "output/chart_axis.h"
#include "output/chart_frame.h"
#include "output/number_format.h"

namespace jarvis::output {
namespace {

constexpr double kWidth = 860;
constexpr double kHeight = 540;
constexpr double kNote = 18;  // below the chart, for what is not drawn

bool Positive(double value) {
  return std::isfinite(value) && value > 0;
}
bool Drawable(const ChartPoint& point) {
  return Positive(point.intensity) && Positive(point.tflops);
}

class Painter {
 public:
  Painter(const RooflineChart& chart, ChartTheme theme)
      : chart_(chart),
        svg_(kWidth, kHeight, "Roofline: " + chart.title, theme),
        frame_(svg_, theme, {0, 0, kWidth, kHeight - kNote}),
        plot_(Plot()),
        names_(frame_, plot_.area),
        roof_colour_(SeriesColour(0, 2)),
        dot_colour_(SeriesColour(1, 2)) {
    for (const ChartPoint& point : chart.points)
      most_ = std::max(most_, point.weight.value_or(0));
  }

  std::string Paint() {
    for (std::size_t i = 0; i < chart_.roofs.size(); ++i)
      Roof(i);
    std::vector<std::size_t> order = LargestFirst();
    const std::size_t drawable = order.size();
    order.resize(std::min(drawable, kRooflinePointsMax));
    for (const std::size_t i : order) {
      const ChartPoint& point = chart_.points[i];
      const double half = Radius(point) * 0.8;
      const SvgPoint at = At(point.intensity, point.tflops);
      names_.Keep({at.first - half, at.second - half, at.first + half, at.second + half});
    }
    for (const std::size_t i : order)
      Point(chart_.points[i]);
    RoofNames();
    std::string note;
    if (order.size() < drawable) note = SmallerOnes(order, drawable);
    if (drawable < chart_.points.size()) {
      note += fmt::format("{}{} not drawn: no FLOPs or no time", note.empty() ? "" : "; ",
                          chart_.points.size() - drawable);
    }
    if (!note.empty()) {
      svg_.Words({plot_.area.right, kHeight - 8}, note,
                 {.anchor = "end", .size = kChartText, .fill = frame_.colours().faint});
    }
    return svg_.Finish();
  }

 private:
  double Ridge(const ChartRoof& roof) const {
    return chart_.mem_bw_gbps > 0 ? roof.tflops * 1e3 / chart_.mem_bw_gbps : 0;
  }
  bool Drawn(const ChartRoof& roof) const {
    return Positive(roof.tflops) && Positive(chart_.mem_bw_gbps);
  }
  SvgPoint At(double intensity, double tflops) const {
    return {plot_.x.At(intensity), plot_.y.At(tflops)};
  }

  // Heading and axes: whole decades around roofs and points.
  PlotArea Plot() {
    Extent x;
    Extent y;
    for (const ChartRoof& roof : chart_.roofs) {
      if (!Drawn(roof)) continue;
      x.Hold(Ridge(roof));
      x.Hold(Ridge(roof) / 30);  // enough of the slope to see that it is one
      y.Hold(roof.tflops);
    }
    for (const ChartPoint& point : chart_.points) {
      if (!Drawable(point)) continue;
      x.Hold(point.intensity);
      y.Hold(point.tflops);
    }
    frame_.Heading(chart_.title, chart_.subtitle);
    const Limits nothing{1, 10};
    return frame_.Axes({.title = "intensity, FLOP/byte",
                        .limits = WholeDecades(x.limits().value_or(nothing)),
                        .logarithmic = true},
                       {.title = "TFLOP/s",
                        .limits = WholeDecades(y.limits().value_or(nothing)),
                        .logarithmic = true});
  }

  // The slope up to the ridge point, the ceiling from there on.
  void Roof(std::size_t i) {
    const ChartRoof& roof = chart_.roofs[i];
    if (!Drawn(roof)) return;
    const double bytes_per_us = chart_.mem_bw_gbps * 1e-3;  // TFLOP/s for each FLOP/byte
    const double ridge = Ridge(roof);
    const double left = std::max(plot_.x.limits().low, plot_.y.limits().low / bytes_per_us);
    const SvgPoint corner = At(ridge, roof.tflops);
    const double right = plot_.area.right;
    const std::array<SvgPoint, 3> line = {
        At(left, left * bytes_per_us), corner, {right, corner.second}};
    const double width = roof.main ? 3 : 1.2;
    svg_.Polyline(line, {.stroke = roof_colour_, .stroke_width = width},
                  fmt::format("{}; ridge point {} FLOP/byte", roof.label, Text(ridge)));
    // No label of a point on the ceiling or on its name.
    const double y = corner.second;
    names_.Keep({corner.first, y - width, right, y + width});
    names_.Keep({right - WordsWidth(roof.label, 12) - 6, y - 18, right, y});
    svg_.Line(corner, {corner.first, plot_.area.bottom},
              {.stroke = roof_colour_, .stroke_width = 1, .dash = "3 4", .opacity = 0.7});
    // One below the other, so that near ridges stay readable.
    const double drop = 14 + 15 * static_cast<double>(chart_.roofs.size() - 1 - i);
    svg_.Words({corner.first + 5, plot_.area.bottom - drop},
               fmt::format("ridge {} FLOP/B", Text(ridge)),
               {.size = kChartText, .fill = frame_.colours().ink});
    if (i == 0) SlopeLabel(left, ridge, bytes_per_us);
  }

  // Above everything else.
  void RoofNames() {
    for (const ChartRoof& roof : chart_.roofs) {
      if (!Drawn(roof)) continue;
      svg_.Words({plot_.area.right - 6, plot_.y.At(roof.tflops) - 6}, roof.label,
                 {.anchor = "end", .fill = frame_.colours().ink, .bold = roof.main});
    }
  }

  void SlopeLabel(double left, double ridge, double bytes_per_us) {
    const double middle = std::sqrt(left * ridge);
    const SvgPoint a = At(left, left * bytes_per_us);
    const SvgPoint b = At(ridge, ridge * bytes_per_us);
    const SvgPoint at = At(middle, middle * bytes_per_us);
    constexpr double kDegrees = 180 / 3.14159265358979323846;
    const double angle = std::atan2(b.second - a.second, b.first - a.first) * kDegrees;
    svg_.Words({at.first - 6, at.second - 8},
               fmt::format("memory {} GB/s", Text(chart_.mem_bw_gbps)),
               {.anchor = "middle", .fill = frame_.colours().ink, .turned = angle});
  }

  // Of what can be drawn: large points first, so that small ones lie on top.
  std::vector<std::size_t> LargestFirst() const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < chart_.points.size(); ++i) {
      if (Drawable(chart_.points[i])) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return chart_.points[a].weight.value_or(0) > chart_.points[b].weight.value_or(0);
    });
    return order;
  }

  // "1,800 smaller ones (2.1 % of the time) not drawn"
  std::string SmallerOnes(const std::vector<std::size_t>& drawn, std::size_t drawable) const {
    double all = 0;
    for (const ChartPoint& point : chart_.points)
      all += Drawable(point) ? point.weight.value_or(0) : 0;
    double left = all;
    for (const std::size_t i : drawn)
      left -= chart_.points[i].weight.value_or(0);
    const std::size_t count = drawable - drawn.size();
    if (!Positive(all)) return fmt::format("{} more not drawn", count);
    return fmt::format("{} smaller ones ({:.1f} % of the time) not drawn", count,
                       std::max(0.0, left / all * 100));
  }

  double Radius(const ChartPoint& point) const {
    constexpr double kLargest = 16;
    constexpr double kSmallest = 3.5;
    if (!point.weight || !Positive(*point.weight) || !Positive(most_)) return 5;
    // Area by time; a single point needs no size.
    if (chart_.points.size() == 1) return 7;
    return std::max(kSmallest, kLargest * std::sqrt(*point.weight / most_));
  }

  void Point(const ChartPoint& point) {
    const SvgPoint at = At(point.intensity, point.tflops);
    const double radius = Radius(point);
    SvgStyle style{
        .stroke = dot_colour_, .stroke_width = 1.5, .fill = dot_colour_, .opacity = 0.75};
    if (!point.weight) {
      style.fill = frame_.colours().paper;
      style.opacity = 1;
    }
    svg_.Circle(at, radius, style, point.tooltip.empty() ? point.label : point.tooltip);
    names_.Put(point.label, at, radius);
  }

  static std::string Text(double value) {
    constexpr double kWhole = 1000;
    return value >= kWhole ? fmt::format("{:.0f}", value)
                           : CellText(Cell(std::round(value * 10) / 10));
  }

  const RooflineChart& chart_;
  Svg svg_;
  ChartFrame frame_;
  PlotArea plot_;
  PlacedNames names_;
  double most_ = 0;  // weight of one
  std::string roof_colour_;
  std::string dot_colour_;
};

}  // namespace

std::string RenderRoofline(const RooflineChart& chart, ChartTheme theme) {
  return Painter(chart, theme).Paint();
}

}  // namespace jarvis::output
