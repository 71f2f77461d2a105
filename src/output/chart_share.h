// Charts of several runs beside each other: one pair of axes for all.
#pragma once

#include <span>

#include "output/chart.h"

namespace jarvis::output {

// Makes charts of the same title alike in sheets that show the same of several runs, so that they
// can be compared by eye: the same limits, and the same names at the same places and in the same
// colours. What one of them does not have is empty there. Names that differ are in natural order.
void ShareAxes(std::span<ChartSheet* const> sheets);

}  // namespace jarvis::output
