// Findings as rows of an answer, and the one-line texts around them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "findings/one/analysis.h"
#include "tools/shared/answer.h"

namespace jarvis::tools {

std::vector<std::string> FindingColumns();
std::vector<Cell> FindingRow(const findings::Finding& finding);

// A note of an analysis ("near_roof") as half a sentence; an unknown key as it is.
std::string ReasonText(const std::string& key);

// Arguments for a narrow column: at most three tensors.
std::string ShortArgs(const std::string& args);

// One sentence about the whole, and about what is no category of ops: cpu_idle, multi_kernel,
// kernel_fusion.
std::string WholeHeadline(const findings::Analysis& analysis);
std::string SystemHeadline(const findings::Analysis& analysis, std::string_view category);

// About the rows of a category that are above their roof. REQUIRES: it has some.
std::string AnomalyNote(const findings::CategoryAnalysis& category);

}  // namespace jarvis::tools
