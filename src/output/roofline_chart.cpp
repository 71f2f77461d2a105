#include "output/roofline_chart.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "output/number_format.h"
#include "output/svg.h"

namespace jarvis::output {
namespace {

constexpr double kWidth = 860;
constexpr double kHeight = 540;
constexpr double kLeft = 76;
constexpr double kRight = 28;
constexpr double kTop = 64;
constexpr double kBottom = 78;

constexpr std::string_view kInk = "#222222";
constexpr std::string_view kGrid = "#e4e4e4";
constexpr std::string_view kFaint = "#777777";
constexpr std::string_view kRoof = "#1b4f8a";
constexpr std::string_view kDot = "#c8501e";

bool Drawable(double value) {
  return std::isfinite(value) && value > 0;
}

// Whole decades that hold some values.
class Decades {
 public:
  void Hold(double value) {
    if (!Drawable(value)) return;
    const double log = std::log10(value);
    low_ = any_ ? std::min(low_, log) : log;
    high_ = any_ ? std::max(high_, log) : log;
    any_ = true;
  }
  // Room around the values.
  void Close() {
    constexpr double kMost = 12;  // more is a mistake in the data and would be unreadable
    low_ = std::floor(low_ - 0.15);
    high_ = std::ceil(high_ + 0.15);
    if (high_ - low_ > kMost) low_ = high_ - kMost;
  }
  double Share(double value) const {
    return std::clamp((std::log10(value) - low_) / (high_ - low_), 0.0, 1.0);
  }
  int first() const { return static_cast<int>(low_); }
  int last() const { return static_cast<int>(high_); }

 private:
  bool any_ = false;
  double low_ = 0;
  double high_ = 1;
};

std::string DecadeText(int decade) {
  constexpr int kPlain = 5;
  if (decade > kPlain || decade < -4) return fmt::format("1e{}", decade);
  return decade >= 0 ? fmt::format("{:.0f}", std::pow(10.0, decade))
                     : fmt::format("{:.{}f}", std::pow(10.0, decade), -decade);
}

struct Box {
  double left, top, right, bottom;
  bool Meets(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

class Painter {
 public:
  explicit Painter(const RooflineChart& chart)
      : chart_(chart), svg_(kWidth, kHeight, "Roofline: " + chart.title) {
    for (const ChartRoof& roof : chart.roofs) {
      x_.Hold(Ridge(roof));
      x_.Hold(Ridge(roof) / 30);  // enough of the slope to see that it is one
      y_.Hold(roof.tflops);
    }
    for (const ChartPoint& point : chart.points) {
      if (!Drawable(point.intensity) || !Drawable(point.tflops)) continue;
      x_.Hold(point.intensity);
      y_.Hold(point.tflops);
    }
    x_.Close();
    y_.Close();
  }

  std::string Paint() {
    svg_.Words({kLeft, 26}, chart_.title, {.size = 16, .bold = true});
    svg_.Words({kLeft, 46}, chart_.subtitle, {.size = 12, .fill = kFaint});
    Axes();
    for (std::size_t i = 0; i < chart_.roofs.size(); ++i)
      Roof(i);
    for (const ChartPoint& point : chart_.points) {
      if (!Drawable(point.intensity) || !Drawable(point.tflops)) continue;
      const double half = Radius(point) * 0.8;
      const SvgPoint at{X(point.intensity), Y(point.tflops)};
      labels_.push_back({at.first - half, at.second - half, at.first + half, at.second + half});
    }
    std::size_t left_out = 0;
    for (const std::size_t i : LargestFirst()) {
      if (!Point(chart_.points[i])) ++left_out;
    }
    RoofNames();
    if (left_out > 0) {
      svg_.Words({kWidth - kRight, kHeight - 12},
                 fmt::format("{} not drawn: no FLOPs or no time", left_out),
                 {.anchor = "end", .size = 11, .fill = kFaint});
    }
    return svg_.Finish();
  }

 private:
  double X(double intensity) const {
    return kLeft + x_.Share(intensity) * (kWidth - kLeft - kRight);
  }
  double Y(double tflops) const {
    return kHeight - kBottom - y_.Share(tflops) * (kHeight - kTop - kBottom);
  }
  double Ridge(const ChartRoof& roof) const {
    return chart_.mem_bw_gbps > 0 ? roof.tflops * 1e3 / chart_.mem_bw_gbps : 0;
  }

  void Axes() {
    const double bottom = kHeight - kBottom;
    for (int decade = x_.first(); decade <= x_.last(); ++decade) {
      const double x = X(std::pow(10.0, decade));
      svg_.Line({x, kTop}, {x, bottom}, {.stroke = kGrid});
      svg_.Words({x, bottom + 18}, DecadeText(decade), {.anchor = "middle"});
    }
    for (int decade = y_.first(); decade <= y_.last(); ++decade) {
      const double y = Y(std::pow(10.0, decade));
      svg_.Line({kLeft, y}, {kWidth - kRight, y}, {.stroke = kGrid});
      svg_.Words({kLeft - 8, y + 4}, DecadeText(decade), {.anchor = "end"});
    }
    svg_.Rect({kLeft, kTop}, kWidth - kLeft - kRight, bottom - kTop, {.stroke = kFaint});
    svg_.Words({(kLeft + kWidth - kRight) / 2, kHeight - 34}, "intensity, FLOP/byte",
               {.anchor = "middle", .size = 13});
    svg_.Words({22, (kTop + bottom) / 2}, "TFLOP/s",
               {.anchor = "middle", .size = 13, .turned = -90});
  }

  // The slope up to the ridge point, the ceiling from there on.
  void Roof(std::size_t i) {
    const ChartRoof& roof = chart_.roofs[i];
    if (!Drawable(roof.tflops) || !Drawable(chart_.mem_bw_gbps)) return;
    const double bytes_per_us = chart_.mem_bw_gbps * 1e-3;  // TFLOP/s for each FLOP/byte
    const double ridge = Ridge(roof);
    const double left =
        std::max(std::pow(10.0, x_.first()), std::pow(10.0, y_.first()) / bytes_per_us);
    const SvgPoint corner{X(ridge), Y(roof.tflops)};
    const SvgPoint line[] = {
        {X(left), Y(left * bytes_per_us)}, corner, {kWidth - kRight, Y(roof.tflops)}};
    const double width = roof.main ? 3 : 1.2;
    svg_.Polyline(line, {.stroke = kRoof, .stroke_width = width},
                  fmt::format("{}; ridge point {} FLOP/byte", roof.label, Text(ridge)));
    // No label of a point on the ceiling or on its name.
    const double y = Y(roof.tflops);
    const double name = WordsWidth(roof.label, 12) + 6;
    labels_.push_back({corner.first, y - width, kWidth - kRight, y + width});
    labels_.push_back({kWidth - kRight - name, y - 18, kWidth - kRight, y});
    svg_.Line(corner, {corner.first, kHeight - kBottom},
              {.stroke = kRoof, .stroke_width = 1, .dash = "3 4", .opacity = 0.7});
    // One below the other, so that near ridges stay readable.
    const double drop = 14 + 15 * static_cast<double>(chart_.roofs.size() - 1 - i);
    svg_.Words({corner.first + 5, kHeight - kBottom - drop},
               fmt::format("ridge {} FLOP/B", Text(ridge)), {.size = 11, .fill = kRoof});
    if (i == 0) SlopeLabel(left, ridge, bytes_per_us);
  }

  // Above everything else.
  void RoofNames() {
    for (const ChartRoof& roof : chart_.roofs) {
      if (!Drawable(roof.tflops) || !Drawable(chart_.mem_bw_gbps)) continue;
      svg_.Words({kWidth - kRight - 6, Y(roof.tflops) - 6}, roof.label,
                 {.anchor = "end", .fill = kRoof, .bold = roof.main});
    }
  }

  void SlopeLabel(double left, double ridge, double bytes_per_us) {
    const double middle = std::sqrt(left * ridge);
    const SvgPoint a{X(left), Y(left * bytes_per_us)};
    const SvgPoint b{X(ridge), Y(ridge * bytes_per_us)};
    constexpr double kDegrees = 180 / 3.14159265358979323846;
    const double angle = std::atan2(b.second - a.second, b.first - a.first) * kDegrees;
    svg_.Words({X(middle) - 6, Y(middle * bytes_per_us) - 8},
               fmt::format("memory {} GB/s", Text(chart_.mem_bw_gbps)),
               {.anchor = "middle", .fill = kRoof, .turned = angle});
  }

  // Large points first, so that small ones lie on top.
  std::vector<std::size_t> LargestFirst() const {
    std::vector<std::size_t> order(chart_.points.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return chart_.points[a].weight.value_or(0) > chart_.points[b].weight.value_or(0);
    });
    return order;
  }

  double Radius(const ChartPoint& point) const {
    constexpr double kLargest = 16;
    constexpr double kSmallest = 3.5;
    double most = 0;
    for (const ChartPoint& other : chart_.points)
      most = std::max(most, other.weight.value_or(0));
    if (!point.weight || !Drawable(*point.weight) || !Drawable(most)) return 5;
    // Area by time; a single point needs no size.
    if (chart_.points.size() == 1) return 7;
    return std::max(kSmallest, kLargest * std::sqrt(*point.weight / most));
  }

  bool Point(const ChartPoint& point) {
    if (!Drawable(point.intensity) || !Drawable(point.tflops)) return false;
    const SvgPoint at{X(point.intensity), Y(point.tflops)};
    const double radius = Radius(point);
    SvgStyle style{.stroke = kDot, .stroke_width = 1.5, .fill = kDot, .opacity = 0.75};
    if (!point.weight) {
      style.fill = "#ffffff";
      style.opacity = 1;
    }
    svg_.Circle(at, radius, style, point.tooltip.empty() ? point.label : point.tooltip);
    Label(point, at, radius);
    return true;
  }

  // Right of the point or left of it; not at all where it would cover another label.
  void Label(const ChartPoint& point, SvgPoint at, double radius) {
    constexpr double kSize = 11;
    const double width = WordsWidth(point.label, kSize);
    const double gap = radius + 4;
    const bool right = at.first + gap + width < kWidth - kRight;
    const double left_edge = right ? at.first + gap : at.first - gap - width;
    for (const double shift : {4.0, 18.0, 32.0, -12.0}) {
      const double baseline = at.second + shift;
      const Box box{left_edge, baseline - kSize, left_edge + width, baseline + 2};
      const bool free = std::none_of(labels_.begin(), labels_.end(),
                                     [&](const Box& other) { return other.Meets(box); });
      if (!free || baseline > kHeight - kBottom || baseline < kTop + kSize) continue;
      labels_.push_back(box);
      svg_.Words({right ? left_edge : at.first - gap, baseline}, point.label,
                 {.anchor = right ? "start" : "end", .size = kSize, .fill = kInk});
      return;
    }
  }

  static std::string Text(double value) {
    constexpr double kWhole = 1000;
    return value >= kWhole ? fmt::format("{:.0f}", value)
                           : CellText(Cell(std::round(value * 10) / 10));
  }

  const RooflineChart& chart_;
  Svg svg_;
  Decades x_;
  Decades y_;
  std::vector<Box> labels_;
};

}  // namespace

std::string RenderRoofline(const RooflineChart& chart) {
  return Painter(chart).Paint();
}

}  // namespace jarvis::output
