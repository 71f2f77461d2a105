// What the outputs of rocprofv3 are asked. One function per tool, one file each. Arguments fit the
// tool's schema and have its defaults.
#pragma once

#include "base/job.h"
#include "json/json.h"
#include "session/workspace.h"
#include "tools/shared/answer.h"

namespace jarvis::tools {

Result<Answer> RocprofCounters(session::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> RocprofYaml(session::Workspace& workspace, const Json& arguments, Job& job);

}  // namespace jarvis::tools
