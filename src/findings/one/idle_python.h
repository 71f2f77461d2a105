// Python that neither launches nor calls an op, while the GPU waits for the host: signatures that
// are inspected, configurations that are looked up, again in each layer.
#pragma once

#include <vector>

#include "base/interval.h"
#include "findings/one/host_cause.h"
#include "session/loaded_trace.h"

namespace jarvis::findings {

// By function, the most time first: outermost frames inside which nothing but Python runs, within
// these spans of the host, each with the frame that calls it first. Modules and the profiler's own
// frames are none. `least_ms`: of a function that is told.
std::vector<HostPlace> FindIdlePython(const session::LoadedTrace& trace,
                                      const IntervalSet<std::int64_t>& spans, double least_ms);

}  // namespace jarvis::findings
