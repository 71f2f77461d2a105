// An analysis that is made on a thread of its own, before somebody asks for it: a trace keeps what
// was found out about it, so that the question is answered at once.
#pragma once

#include <thread>

#include "base/job.h"
#include "json/json.h"
#include "session/workspace.h"

namespace jarvis::tools {

class AnalysisAhead {
 public:
  // Arguments trace, platform and extension, as the tools take them; of a file with several ranks
  // OneRankOf is analysed. What is wrong with them is told by the tool that is asked.
  AnalysisAhead(session::Workspace& workspace, Json arguments);
  AnalysisAhead(const AnalysisAhead&) = delete;
  AnalysisAhead& operator=(const AnalysisAhead&) = delete;
  ~AnalysisAhead() { job_.Stop(); }

 private:
  Job job_;
  std::jthread thread_;
};

}  // namespace jarvis::tools
