// The tool run_compare.
#pragma once

#include "base/job.h"
#include "engine/workspace.h"
#include "tools/answer.h"

namespace jarvis::tools {

// Whole runs, each a directory with a trace a rank, against the first of them.
Result<Answer> RunCompare(engine::Workspace& workspace, const Json& arguments, Job& job);

}  // namespace jarvis::tools
