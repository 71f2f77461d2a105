// Lines with markers, and points: what their data span, and how they are drawn into a frame. For
// chart.cpp.
#pragma once

#include "output/chart.h"
#include "output/chart_frame.h"
#include "output/chart_kinds.h"

namespace jarvis::output {

ChartExtents ExtentsOf(const LineChart& body);
ChartExtents ExtentsOf(const ScatterPlot& body);

void Draw(ChartFrame& frame, const Chart& chart, const LineChart& body, const ChartLimits& limits);
void Draw(ChartFrame& frame, const Chart& chart, const ScatterPlot& body,
          const ChartLimits& limits);

}  // namespace jarvis::output
