// Reports about rocprofv3 runs, by our rules or the reference's.
#pragma once

#include "rocprof/report/report.h"
#include "session/report.h"

namespace jarvis::session {

// `capture` is best read with CaptureOptions::prefer_json: the document knows the tool's own span
// and memory copies, which the tables do not.
std::vector<Table> RocprofReport(const rocprof::Capture& capture, const rocprof::Process& process,
                                 Compat compat);

}  // namespace jarvis::session
