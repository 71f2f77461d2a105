// An analysis for a tool: of which trace, against which platform, which of its categories.
#pragma once

#include <string>
#include <vector>

#include "findings/one/analysis.h"
#include "tools/shared/arguments.h"
#include "tools/shared/platform_choice.h"

namespace jarvis::tools {

struct AnalysisCase {
  TracePtr trace;
  PlatformChoice platform;
  findings::Analysis analysis;
};
// Arguments trace and platform.
Result<AnalysisCase> AnalyzeTrace(session::Workspace& workspace, const Json& arguments, Job& job);

// Indices of the categories that the names mean; all if there are none. An error that lists the
// trace's categories if a name means none of them.
Result<std::vector<std::size_t>> ChooseCategories(const findings::Analysis& analysis,
                                                  const std::vector<std::string>& names);

}  // namespace jarvis::tools
