// The roofline as a picture: on log-log axes the slope that bandwidth sets, the ceilings that
// arithmetic sets, the ridge points where they meet, and work as points below them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "output/chart_theme.h"

namespace jarvis::output {

struct ChartRoof {
  std::string label;  // "peak 1307.4 TFLOP/s"
  double tflops = 0;
  bool main = false;  // drawn thick: the roof that efficiency is measured against
};

struct ChartPoint {
  std::string label;
  std::string tooltip;           // may have several lines
  double intensity = 0;          // FLOP/byte
  double tflops = 0;             // reached, or the roof where nothing was measured
  std::optional<double> weight;  // time, for the area; absent: a small hollow circle
};

struct RooflineChart {
  std::string title;
  std::string subtitle;
  double mem_bw_gbps = 0;
  std::vector<ChartRoof> roofs;
  std::vector<ChartPoint> points;
};

// More than the eye can tell apart: of more points those of most weight are drawn.
inline constexpr std::size_t kRooflinePointsMax = 200;

// The SVG document, in time linear in the points. Points that are not drawn are counted in a line
// below the chart: those beyond kRooflinePointsMax with their share of the weight, and those
// without a place on such axes (no FLOPs, no time).
std::string RenderRoofline(const RooflineChart& chart, ChartTheme theme = ChartTheme::kLight);

}  // namespace jarvis::output
