// What somebody sees first of an analysis whose files were written.
#pragma once

#include <string>

#include "base/job.h"
#include "base/result.h"
#include "documents/front_text.h"
#include "json/json.h"
#include "session/workspace.h"

namespace jarvis::tools {

// Arguments as OpenReportCase takes them.
Result<std::string> FrontText(session::Workspace& workspace, const Json& arguments,
                              const documents::TerminalLook& look, Job& job);

}  // namespace jarvis::tools
