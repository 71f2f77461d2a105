// A category as text for people and for agents without MCP: its operations, what stands out, key
// figures.
#pragma once

#include <string>

#include "base/job.h"
#include "session/workspace.h"

namespace jarvis::tools {

// Of the analysis whose files are in `folder`: category_data/category_manifest.json names the
// trace. `category`: a key or an alias, or "idle", "communication", "fusion"; all that it matches.
// Errors: no such files, the trace is gone, no such category.
Result<std::string> CategoryText(session::Workspace& workspace, const std::string& folder,
                                 const std::string& category, Job& job);

}  // namespace jarvis::tools
