// What a GPU graph of a whole step would meet: calls inside it that wait for the GPU, which no
// capture survives, and copies from the host.
#pragma once

#include <string>

#include "analysis/host/host_summary.h"
#include "findings/one/time_scope.h"
#include "findings/one/work_context.h"
#include "session/loaded_trace.h"
#include "session/trace_frames.h"

namespace jarvis::findings {

// A clause that goes on after the advice to capture. Looked at is what lies between the first and
// the last kernel that each step launches. Empty: no steps are known, so that what lies between two
// of them cannot be told from what is inside.
std::string CaptureWords(const session::LoadedTrace& trace, const analysis::HostSummary& host,
                         const session::TraceFrames& frames, const TimeScope& scope,
                         const WorkContext& context);

}  // namespace jarvis::findings
