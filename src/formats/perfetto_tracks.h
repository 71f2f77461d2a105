// What we found, as events that a viewer of traces (ui.perfetto.dev, chrome://tracing) shows beside
// the trace's own: tracks of steps, phases, idle causes, the critical path and findings, and
// counters.
#pragma once

#include <string>

#include "base/job.h"
#include "base/result.h"
#include "findings/one/analysis.h"
#include "session/loaded_trace.h"

namespace jarvis::formats {

// Chrome-trace events as JSON elements, each with a comma and a line end in front, on a process of
// their own. Times are the trace's. Errors: kCancelled.
Result<std::string> PerfettoTracks(const session::LoadedTrace& trace,
                                   const findings::Analysis& analysis, Job& job);

}  // namespace jarvis::formats
