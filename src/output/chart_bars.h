// Bars beside each other or below each other: what their data span, and how they are drawn into a
// frame. For chart.cpp.
#pragma once

#include "output/chart.h"
#include "output/chart_frame.h"
#include "output/chart_kinds.h"

namespace jarvis::output {

ChartExtents ExtentsOf(const BarChart& body);

void Draw(ChartFrame& frame, const Chart& chart, const BarChart& body, const ChartLimits& limits);

}  // namespace jarvis::output
