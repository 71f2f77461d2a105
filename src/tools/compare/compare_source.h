// One side of a comparison as callers name it.
#pragma once

#include <string>
#include <vector>

#include "session/report_source.h"
#include "tools/shared/arguments.h"

namespace jarvis::tools {

// A trace (an id or a path), a report (a directory of CSV tables, a workbook), or the ranks of a
// job (a digest, or a directory of traces and digests), of which there are the tables that
// `collectives` writes.
Result<session::ReportSource> OpenSource(session::Workspace& workspace, const std::string& given,
                                         Job& job);

// Whether each is a file with a trace, and not with digests of ranks.
bool AreTraceFiles(const io::FilePolicy& files, const std::vector<std::string>& given);

}  // namespace jarvis::tools
