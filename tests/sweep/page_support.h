// Sweeps and runs made up for the tests of pictures and pages: as many as asked for, with labels
// and names as bad as they come.
#pragma once

#include <cstddef>
#include <string>

#include "sweep/draw/page.h"
#include "sweep/draw/single_page.h"

namespace jarvis::sweep {

// Names that a page must neither run nor be torn by.
extern const char* const kHostile;
// 400 characters without a blank.
std::string LongName();

SweepPlotData SamplePlotData(double slower = 1);
ComparisonPage SamplePage(std::size_t sweeps, bool hostile);
SinglePage SampleSinglePage(std::size_t runs, bool hostile);

}  // namespace jarvis::sweep
