// Which captured launch each kernel of a replay comes from, as the reference pairs them. It trusts
// names alone, asks fewer questions than analysis::AlignReplay, and breaks ties in another way.
#pragma once

#include <utility>
#include <vector>

#include "analysis/align/graph_capture.h"
#include "trace/event_store.h"

namespace jarvis::compat {

// GPU event of the replay, captured launch.
using CapturedPair = std::pair<trace::EventIndex, trace::EventIndex>;

// All kernels of the replay, in the order in which they are linked; empty: they do not agree.
// On one stream as many launches as kernels go place by place, a launch without a recorded kernel
// fits whatever ran there; out of order, name by name. Of more launches those that the replay does
// not run are dropped. On several streams each runs its kernels in the order of their launches.
std::vector<CapturedPair> PairLikeTraceLens(const trace::EventStore& replayed,
                                            const analysis::ReplayedGraph& replay,
                                            const trace::EventStore& captured,
                                            const analysis::CapturedGraph& capture);

bool RunsOnSeveralStreams(const trace::EventStore& replayed, const analysis::ReplayedGraph& replay);

// Is the kernel of each launch recorded? Copies and fills have none.
bool NamesItsKernels(const trace::EventStore& captured, const analysis::CapturedGraph& capture);

}  // namespace jarvis::compat
