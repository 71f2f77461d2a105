// Working notes: what was really called and found, so that a reader can judge the report.
#pragma once

#include <string>

#include "documents/report.h"

namespace jarvis::documents {

// What was called and what it said, raw tables, call sites, gaps, questions.
std::string RenderRough(const ReportSources& sources);

}  // namespace jarvis::documents
