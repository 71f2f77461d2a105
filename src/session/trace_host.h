// What the host of a trace did, by the steps that FramesOf finds; made once for a trace.
#pragma once

#include <memory>

#include "analysis/host/host_summary.h"
#include "base/job.h"
#include "base/result.h"

namespace jarvis::session {

class LoadedTrace;

// Kept with the trace. Errors: kCancelled.
Result<std::shared_ptr<const analysis::HostSummary>> HostOf(const LoadedTrace& trace,
                                                            const Job& job);

}  // namespace jarvis::session
