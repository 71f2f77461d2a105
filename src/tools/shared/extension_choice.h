// Which performance models a tool's numbers are made by: ours, or ours with a user's extension over
// them.
#pragma once

#include <memory>

#include "base/job.h"
#include "io/file_policy.h"
#include "perf/model_rows.h"
#include "session/loaded_trace.h"
#include "session/report.h"
#include "tools/shared/answer.h"

namespace jarvis::tools {

using ModelsPtr = std::shared_ptr<const perf::ModelRows>;

// The argument extension: a JSON file (docs/models.md); null without it. A file is checked once for
// as long as it and the trace stay as they are, and gives the same rows until then. They go over
// the rows of `compat`. A file that is bad or that `files` does not allow is an error.
Result<ModelsPtr> ChooseModels(const io::FilePolicy& files, const Json& arguments,
                               const session::LoadedTrace& trace, session::Compat compat,
                               const Job& job);

}  // namespace jarvis::tools
