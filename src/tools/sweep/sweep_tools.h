// What a sweep is asked, and what makes one. One function per tool, one file each. Arguments fit
// the tool's schema and have its defaults.
#pragma once

#include "base/job.h"
#include "json/json.h"
#include "session/workspace.h"
#include "tools/shared/answer.h"

namespace jarvis::tools {

Result<Answer> SweepPlan(session::Workspace& workspace, const Json& arguments, Job& job);
// kExecDisabled unless the workspace may execute.
Result<Answer> SweepRun(session::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> SweepScan(session::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> SweepPipeline(session::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> SweepCompare(session::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> SweepRecommend(session::Workspace& workspace, const Json& arguments, Job& job);

}  // namespace jarvis::tools
