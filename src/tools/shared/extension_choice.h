// Which performance models a tool's numbers are made by, and which words its fixes have: ours, or
// ours with a user's extension over them.
#pragma once

#include <memory>

#include "base/job.h"
#include "io/file_policy.h"
#include "levers/fixes.h"
#include "perf/model_rows.h"
#include "session/loaded_trace.h"
#include "session/report.h"
#include "tools/shared/answer.h"

namespace jarvis::tools {

struct Extension {
  std::shared_ptr<const perf::ModelRows> models;  // null: the built-in ones
  std::shared_ptr<const levers::Fixes> fixes;     // null: ours
};

// The argument extension: a JSON file (docs/models.md, docs/fixes.md); nulls without it. A file is
// checked once for as long as it and the trace stay as they are, and gives the same rows until
// then. They go over the rows of `compat`. A file that is bad or that `files` does not allow is an
// error.
Result<Extension> ChooseExtension(const io::FilePolicy& files, const Json& arguments,
                                  const session::LoadedTrace& trace, session::Compat compat,
                                  const Job& job);

}  // namespace jarvis::tools
