// Box plots and violins: what their data span, and how they are drawn into a frame. For chart.cpp.
#pragma once

#include "output/chart.h"
#include "output/chart_frame.h"
#include "output/chart_kinds.h"

namespace jarvis::output {

ChartExtents ExtentsOf(const BoxPlot& body);
ChartExtents ExtentsOf(const ViolinPlot& body);

void Draw(ChartFrame& frame, const Chart& chart, const BoxPlot& body, const ChartLimits& limits);
void Draw(ChartFrame& frame, const Chart& chart, const ViolinPlot& body, const ChartLimits& limits);

}  // namespace jarvis::output
