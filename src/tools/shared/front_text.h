// What somebody sees first of an analysis whose files were written.
#pragma once

#include <string>

#include "base/job.h"
#include "base/result.h"
#include "documents/front_text.h"
#include "findings/one/analysis.h"
#include "json/json.h"
#include "session/workspace.h"

namespace jarvis::tools {

// The first screen as the view beside an answer shows it: `title`, `run`, `base`, `parts` (`name`,
// `share`, `percent`, `look`), `fixes` (`number`, `path`, `saves`, `action`, `finding`), `trust`:
// plain lines in which code stands between backquotes. Without what people wrote.
Json FirstScreen(const findings::Analysis& analysis);

// Arguments as OpenReportCase takes them.
Result<std::string> FrontText(session::Workspace& workspace, const Json& arguments,
                              const documents::TerminalLook& look, Job& job);

}  // namespace jarvis::tools
