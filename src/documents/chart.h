// The improvement chart: the window as one bar, the window after all findings as another, and what
// each finding may save.
#pragma once

#include <string>

#include "documents/report.h"

namespace jarvis::documents {

// As SVG.
std::string RenderChart(const ReportSources& sources);

}  // namespace jarvis::documents
