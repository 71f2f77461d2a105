// The tool run_compare.
#pragma once

#include "base/job.h"
#include "session/workspace.h"
#include "tools/shared/answer.h"

namespace jarvis::tools {

// Whole runs, each a directory with a trace a rank, against the first of them.
Result<Answer> RunCompare(session::Workspace& workspace, const Json& arguments, Job& job);

}  // namespace jarvis::tools
