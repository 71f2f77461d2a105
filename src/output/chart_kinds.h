// What every kind of chart says of its data and is told of its axes. A kind has ExtentsOf() and
// Draw() for its body: chart_bars.h, chart_groups.h, chart_lines.h, chart_maps.h.
#pragma once

#include "output/chart.h"
#include "output/chart_axis.h"

namespace jarvis::output {

// What axes and colours have to show. A chart none of whose values is finite has no y, or for heat
// maps no colour, or for strips no x.
struct ChartExtents {
  Extent x;
  Extent y;
  Extent colour;
};

// Of the chart's body, whatever its kind.
ChartExtents ExtentsOfChart(const Chart& chart);

// `x` and `y`: the limits to show, with room around the data.
struct ChartLimits {
  Limits x;
  Limits y;
  Limits colour;
};

}  // namespace jarvis::output
