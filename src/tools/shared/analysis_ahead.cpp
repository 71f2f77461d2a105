#include "tools/shared/analysis_ahead.h"

#include <exception>
#include <utility>

#include "perf/model_rows.h"
#include "tools/shared/category_choice.h"
#include "tools/shared/rank_choice.h"

namespace jarvis::tools {

AnalysisAhead::AnalysisAhead(session::Workspace& workspace, Json arguments) {
  try {
    thread_ = std::jthread([this, &workspace, arguments = std::move(arguments)] {
      try {
        perf::BuiltinRows();  // are there when the trace is
        if (const auto one = OneRankOf(workspace, arguments, job_))
          static_cast<void>(AnalyzeTrace(workspace, one->arguments, job_));
      } catch (const std::exception&) {
        // Thrown again where it is asked for.
      }
    });
  } catch (const std::exception&) {
    // No thread or memory for it: then it is made where it is asked for.
  }
}

}  // namespace jarvis::tools
