// The captures of one recording as the reference reads them: what runs between the calls that begin
// and end each.
#pragma once

#include <utility>
#include <vector>

#include "analysis/align/graph_capture.h"
#include "trace/event_store.h"

namespace jarvis::compat {

struct CaptureRoot {
  // What hangs below it, by start, and what each hangs below: an event before it; kNoEvent: the
  // root.
  std::vector<std::pair<trace::EventIndex, trace::EventIndex>> subtree;
  std::vector<trace::EventIndex> ops;  // of those, what no op of the recording is around
  analysis::CapturedGraph graph;       // launches and their kernels alone
};

std::vector<CaptureRoot> FindCaptureRoots(const trace::EventStore& capture);

}  // namespace jarvis::compat
