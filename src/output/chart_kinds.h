// Each kind of chart: what its data span, and how they are drawn into a frame. For chart.cpp.
#pragma once

#include "output/chart.h"
#include "output/chart_frame.h"

namespace jarvis::output {

// What axes and colours have to show. A chart none of whose values is finite has no y, or for heat
// maps no colour, or for strips no x.
struct ChartExtents {
  Extent x;
  Extent y;
  Extent colour;
};

ChartExtents ExtentsOf(const BoxPlot& body);
ChartExtents ExtentsOf(const ViolinPlot& body);
ChartExtents ExtentsOf(const LineChart& body);
ChartExtents ExtentsOf(const BarChart& body);
ChartExtents ExtentsOf(const HeatMap& body);
ChartExtents ExtentsOf(const ScatterPlot& body);
ChartExtents ExtentsOf(const TimelineStrip& body);

// `x` and `y`: the limits to show, with room around the data.
struct ChartLimits {
  Limits x;
  Limits y;
  Limits colour;
};
void Draw(ChartFrame& frame, const Chart& chart, const BoxPlot& body, const ChartLimits& limits);
void Draw(ChartFrame& frame, const Chart& chart, const ViolinPlot& body, const ChartLimits& limits);
void Draw(ChartFrame& frame, const Chart& chart, const LineChart& body, const ChartLimits& limits);
void Draw(ChartFrame& frame, const Chart& chart, const BarChart& body, const ChartLimits& limits);
void Draw(ChartFrame& frame, const Chart& chart, const HeatMap& body, const ChartLimits& limits);
void Draw(ChartFrame& frame, const Chart& chart, const ScatterPlot& body,
          const ChartLimits& limits);
void Draw(ChartFrame& frame, const Chart& chart, const TimelineStrip& body,
          const ChartLimits& limits);

}  // namespace jarvis::output
