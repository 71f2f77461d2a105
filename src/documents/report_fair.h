// The report for stakeholders, each fact in one place.
#pragma once

#include <string>

#include "documents/report.h"

namespace jarvis::documents {

// Summary, recommendations with both paths, details, appendix.
std::string RenderFair(const ReportSources& sources);

}  // namespace jarvis::documents
