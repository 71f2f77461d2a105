// What all charts have around their data: heading, legend, axes with ticks and names, grid.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "output/chart_axis.h"
#include "output/chart_theme.h"
#include "output/svg.h"

namespace jarvis::output {

inline constexpr double kChartText = 11;   // size of ticks, names and legends
inline constexpr double kChartTitle = 15;  // of headings

struct ChartArea {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
  double width() const { return right - left; }
  double height() const { return bottom - top; }
};

struct LegendEntry {
  std::string label;
  std::string colour;
  std::optional<std::size_t> marker = {};  // a line with that marker; absent: a box
};

// Names at equal distances, or values.
struct AxisPlan {
  std::string_view title;
  std::span<const std::string> names = {};
  Limits limits = {};  // of values
  bool logarithmic = false;
};

// Where the data go.
struct PlotArea {
  ChartArea area;
  Scale x;
  Scale y;
  double x_slot = 0;  // width of a name's place
  double y_slot = 0;
  double X(std::size_t name) const {
    return area.left + (static_cast<double>(name) + 0.5) * x_slot;
  }
  double Y(std::size_t name) const { return area.top + (static_cast<double>(name) + 0.5) * y_slot; }
};

class ChartFrame {
 public:
  ChartFrame(Svg& svg, ChartTheme theme, const ChartArea& area);

  // From top to bottom, before the axes.
  void Heading(std::string_view title, std::string_view subtitle);
  void Legend(std::span<const LegendEntry> entries);
  // Room kept free at the right of the plot.
  void KeepRight(double width) { area_.right -= width; }
  // Draws both axes into what is left.
  PlotArea Axes(const AxisPlan& x, const AxisPlan& y);
  // Instead of axes.
  void NoData();

  Svg& svg() { return svg_; }
  const ChartColours& colours() const { return colours_; }
  const ChartArea& area() const { return area_; }

 private:
  void Lines(std::string_view text, double size, bool bold, std::string_view fill);
  void NamesBelow(const PlotArea& plot, const AxisPlan& axis, const NameLayout& layout);
  void ValuesBelow(const PlotArea& plot, const AxisPlan& axis);
  void NamesLeft(const PlotArea& plot, const AxisPlan& axis, std::size_t characters);
  void ValuesLeft(const PlotArea& plot, std::span<const Tick> ticks);

  Svg& svg_;
  const ChartColours& colours_;
  ChartArea area_;  // what is left
};

// Names beside points, each where nothing else is; a name without such a place is left out.
class PlacedNames {
 public:
  PlacedNames(ChartFrame& frame, const ChartArea& area) : frame_(frame), area_(area) {}
  // Nothing is written there.
  void Keep(const ChartArea& taken) { taken_.push_back(taken); }
  void Put(std::string_view name, SvgPoint point, double radius);

 private:
  bool Free(const ChartArea& place) const;

  ChartFrame& frame_;
  ChartArea area_;
  std::vector<ChartArea> taken_;
};

// The shapes by which series are told apart besides their colour.
void DrawMarker(Svg& svg, SvgPoint at, std::size_t marker, double radius, const SvgStyle& style,
                std::string_view tooltip = {});

}  // namespace jarvis::output
