// Where a GPU idles for late launches although the host is ahead of it nearly all the time: then
// the pace of launching is no cause, and the place is what there is to tell.
#pragma once

#include "base/interval.h"
#include "findings/one/host_cause.h"
#include "session/loaded_trace.h"
#include "session/trace_frames.h"

namespace jarvis::findings {

// The next launch usually comes before a kernel ends, nearly all launches find work before them, or
// the GPU is busy nearly all the time and no part of the step launches too slowly.
bool IsHostAhead(const session::TraceFrames& frames, const HostCause& cause);

// Of a recording of one unit: the stretch that holds most of the idle time, what runs before and
// after the longest gap, and when a second thread begins to launch. Of several units a place in one
// is none of the others.
void LocateGaps(const session::LoadedTrace& trace, const session::TraceFrames& frames,
                IntervalSet<std::int64_t> gaps, bool training, HostCause* cause);

}  // namespace jarvis::findings
