// What commands and resources take from the tool `query` beside its answers.
#pragma once

#include <string>

#include "base/job.h"
#include "json/json.h"
#include "session/workspace.h"

namespace jarvis::tools {

// All rows of a question (arguments trace, sql, timeout_s) as CSV. Errors: those of query::Run.
Result<std::string> QueryCsv(session::Workspace& workspace, const Json& arguments, Job& job);

// All tables as a database file of SQLite (argument trace).
Result<std::string> DatabaseOf(session::Workspace& workspace, const Json& arguments, Job& job);

// The tables with their columns, and questions as examples, as markdown.
std::string QuerySchema();

}  // namespace jarvis::tools
