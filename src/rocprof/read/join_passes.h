// Counters of several passes on one dispatch.
//
// Each pass is an execution of its own, so ids need not agree: dispatches are the same if rank,
// kernel, grid, work-group and occurrence agree. Durations and resources are the first pass's.
#pragma once

#include "rocprof/read/records.h"

namespace jarvis::rocprof {

// REQUIRES: ranks are assigned. Of each config one process per rank is left; sets Capture::passes,
// joined and unjoined.
void JoinPasses(Capture* capture);

}  // namespace jarvis::rocprof
