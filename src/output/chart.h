// Charts as data, drawn as SVG. One Chart is one pair of axes; a ChartSheet is one picture of one
// or several charts side by side. All charts of the product share theme, ticks, labels and legend.
//
// Values that are no finite numbers are left out; a chart without any says "no data". The same
// sheet gives the same bytes. Texts are escaped by the writer; long ones are shortened in the
// picture and whole in the tooltips.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "output/chart_axis.h"
#include "output/chart_theme.h"

namespace jarvis::output {

struct ChartAxis {
  std::string title = {};
  std::optional<Limits> limits =
      {};  // at least this much is shown, for axes alike in several charts
  bool from_zero = false;
};

// Values that belong together, in the order in which they are to stand.
struct ChartGroup {
  std::string label;
  std::vector<double> values;
};
// Quartiles by linear interpolation, whiskers to the last value within 1.5 interquartile ranges,
// circles beyond; a solid line at the median, a dashed one at the mean.
struct BoxPlot {
  std::vector<ChartGroup> groups;
};
// The density of each group, as wide at its densest point as the others; short lines at minimum,
// maximum and mean, a longer one at the median.
struct ViolinPlot {
  std::vector<ChartGroup> groups;
};

struct ChartSeries {
  std::string label;
  std::vector<std::optional<double>> y;  // one for each x; absent: a gap
};
struct LineChart {
  std::vector<std::string> x;
  std::vector<ChartSeries> series;
};
struct BarChart {
  std::vector<std::string> groups;
  std::vector<ChartSeries> series;
  bool horizontal = false;
  std::size_t colours_from = 0;  // colours left to what is not in this chart
  bool lower_is_better = true;   // of `by_sign`
  bool by_sign = false;          // green for the better, red for the worse, one series
};
struct HeatMap {
  std::vector<std::string> columns;
  std::vector<std::string> rows;
  std::vector<std::optional<double>> values;  // row by row
  std::optional<Limits> range = {};           // of the colours, at least
  bool diverging = false;                     // around 0: green for the better, red for the worse
  bool lower_is_better = true;                // of `diverging`
  std::string unit = {};                      // of the scale beside it
};

struct ScatterPoint {
  double x = 0;
  double y = 0;
  std::string label = {};  // beside the point, where there is room, and in its tooltip
};
struct ScatterSeries {
  std::string label = {};
  std::vector<ScatterPoint> points = {};
  bool fit = false;     // the least-squares line
  bool joined = false;  // a line from point to point
  bool marked = true;   // false: the line alone
};
struct ScatterPlot {
  std::vector<ScatterSeries> series;
};

// What was busy when, in lanes: `x` is time.
struct StripLane {
  std::string label;
  std::size_t kind = 0;  // index in `kinds`, decides the colour
  std::vector<Limits> spans;
};
struct StripRow {
  std::string label;
  std::vector<StripLane> lanes;
};
struct TimelineStrip {
  std::vector<std::string> kinds;
  std::vector<StripRow> rows;
};

struct Chart {
  std::string title = {};
  std::string subtitle = {};
  ChartAxis x = {};
  ChartAxis y = {};
  std::variant<BoxPlot, ViolinPlot, LineChart, BarChart, HeatMap, ScatterPlot, TimelineStrip> body =
      {};
};

struct ChartSheet {
  std::string title = {};  // over several charts; a single one has its own
  std::vector<Chart> charts;
  std::size_t columns = 0;  // charts side by side; 0: all
  double width = 800;       // of one chart, pixels at natural size
  double height = 480;
};

// The SVG document; with ChartTheme::kPage the element to put into an HTML page.
std::string RenderSheet(const ChartSheet& sheet, ChartTheme theme = ChartTheme::kLight);

// What a picture is called: its own title or that of its only chart.
std::string TitleOf(const ChartSheet& sheet);
// False if every chart would say "no data".
bool HasData(const ChartSheet& sheet);

}  // namespace jarvis::output
