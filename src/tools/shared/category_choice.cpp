#include "tools/shared/category_choice.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "findings/one/analysis_cache.h"
#include "session/category_names.h"

namespace jarvis::tools {

Result<AnalysisCase> OpenAnalysisCase(session::Workspace& workspace, const Json& arguments,
                                      Job& job) {
  AnalysisCase out;
  JV_ASSIGN(out.trace, OpenTrace(workspace, arguments, job));
  JV_ASSIGN(out.platform,
            ChoosePlatform(workspace.files(), TextArgument(arguments, "platform").value_or(""),
                           out.trace.get()));
  JV_ASSIGN(out.extension,
            ChooseExtension(workspace.files(), arguments, *out.trace, session::Compat::kNone, job));
  return out;
}

Status FindAnalysis(AnalysisCase* one, Job& job) {
  const perf::Platform* platform = one->platform.platform ? &*one->platform.platform : nullptr;
  JV_ASSIGN(one->analysis,
            findings::AnalysisOf(*one->trace, platform,
                                 {one->extension.models, one->extension.fixes}, job));
  return {};
}

Result<AnalysisCase> AnalyzeTrace(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(AnalysisCase out, OpenAnalysisCase(workspace, arguments, job));
  JV_TRY(FindAnalysis(&out, job));
  return out;
}

Result<std::vector<std::size_t>> ChooseCategories(const findings::Analysis& analysis,
                                                  const std::vector<std::string>& names) {
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < analysis.categories.size(); ++i) {
    const bool takes =
        names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
          return session::CategoryMatches(name, analysis.categories[i].display_name);
        });
    if (takes) chosen.push_back(i);
  }
  if (chosen.empty() && !names.empty()) {
    std::string there;
    for (const findings::CategoryAnalysis& category : analysis.categories)
      there += (there.empty() ? "" : ", ") + category.key;
    return Fail(ErrorCode::kBadValue,
                fmt::format("no category \"{}\" in this trace; it has: {}",
                            Utf8Prefix(names.front(), 40), there.empty() ? "none" : there),
                "ops_summary with by=category lists them");
  }
  return chosen;
}

}  // namespace jarvis::tools
