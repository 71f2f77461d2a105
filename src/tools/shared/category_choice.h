// An analysis for a tool: of which trace, against which platform, by which models, which of its
// categories.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "findings/one/analysis.h"
#include "tools/shared/arguments.h"
#include "tools/shared/extension_choice.h"
#include "tools/shared/platform_choice.h"

namespace jarvis::tools {

struct AnalysisCase {
  TracePtr trace;
  PlatformChoice platform;
  Extension extension;
  std::shared_ptr<const findings::Analysis> analysis;  // shared with other calls
};
// Arguments trace, platform and extension. No analysis yet.
Result<AnalysisCase> OpenAnalysisCase(session::Workspace& workspace, const Json& arguments,
                                      Job& job);
// Its analysis, made now or found.
Status FindAnalysis(AnalysisCase* one, Job& job);
// Both.
Result<AnalysisCase> AnalyzeTrace(session::Workspace& workspace, const Json& arguments, Job& job);

// Indices of the categories that the names mean; all if there are none. An error that lists the
// trace's categories if a name means none of them.
Result<std::vector<std::size_t>> ChooseCategories(const findings::Analysis& analysis,
                                                  const std::vector<std::string>& names);

}  // namespace jarvis::tools
