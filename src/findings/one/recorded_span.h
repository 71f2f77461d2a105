// How long a recording is beside the GPU work in it, and what its program did before the first.
#pragma once

#include <optional>
#include <vector>

#include "session/loaded_trace.h"

namespace jarvis::findings {

struct RecordedSpan {
  double length_ms = 0;
  double before_work_ms = 0;                     // from its begin to the first GPU work
  std::vector<trace::Recording::Seen> start_up;  // of that time, the longest first
};

// Absent: the recorder does not say how long it recorded, or there is no GPU work.
std::optional<RecordedSpan> RecordedSpanOf(const session::LoadedTrace& trace);

}  // namespace jarvis::findings
