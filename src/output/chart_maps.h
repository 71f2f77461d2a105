// Heat maps and strips of time: what their data span, and how they are drawn into a frame. For
// chart.cpp.
#pragma once

#include "output/chart.h"
#include "output/chart_frame.h"
#include "output/chart_kinds.h"

namespace jarvis::output {

ChartExtents ExtentsOf(const HeatMap& body);
ChartExtents ExtentsOf(const TimelineStrip& body);

void Draw(ChartFrame& frame, const Chart& chart, const HeatMap& body, const ChartLimits& limits);
void Draw(ChartFrame& frame, const Chart& chart, const TimelineStrip& body,
          const ChartLimits& limits);

}  // namespace jarvis::output
