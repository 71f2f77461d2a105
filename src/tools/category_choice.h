// An analysis for a tool: of which trace, against which platform, which of its categories.
#pragma once

#include <string>
#include <vector>

#include "tools/platform_choice.h"
#include "tools/tools.h"
#include "workflow/analysis.h"

namespace jarvis::tools {

struct AnalysisCase {
  TracePtr trace;
  PlatformChoice platform;
  workflow::Analysis analysis;
};
// Arguments trace and platform.
Result<AnalysisCase> AnalyzeTrace(engine::Workspace& workspace, const Json& arguments, Job& job);

// Indices of the categories that the names mean; all if there are none. An error that lists the
// trace's categories if a name means none of them.
Result<std::vector<std::size_t>> ChooseCategories(const workflow::Analysis& analysis,
                                                  const std::vector<std::string>& names);

}  // namespace jarvis::tools
