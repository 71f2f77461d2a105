// Pieces that comparison pages of sweeps and of single configurations share.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "output/chart.h"
#include "output/html_page.h"
#include "sweep/draw/page.h"

namespace jarvis::sweep {

// "+3.2 %"; two decimals below 1 %.
std::string ChangeText(double percent);
// A dash for what is absent.
output::HtmlCell NumberCell(const std::optional<double>& value);
// The change with its colour, and in words, so that nobody needs to see the colour.
output::HtmlCell ChangeCell(const std::optional<double>& percent, PageVerdict verdict,
                            std::string_view why);

output::HtmlSection KernelSection(const ComparisonPage& page);

// A sheet at a size for a page, without its title. `wide`: over the whole width.
output::HtmlFigure PageFigure(output::ChartSheet sheet, std::string caption, bool wide = false);
// Sheets that show the same of several runs, side by side with the same axes.
output::HtmlFigures SharedFigures(std::span<output::ChartSheet* const> sheets,
                                  std::span<const std::string> labels);
// All plots that have data, each under its own title.
output::HtmlFigures AllFigures(std::span<const SweepPlot* const> plots);

}  // namespace jarvis::sweep
