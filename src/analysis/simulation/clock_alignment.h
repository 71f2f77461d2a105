// Profilers of some GPUs stamp GPU work with a clock that is off the host's by tens of microseconds
// and drifts. Then work seems to start before its launch, or a wait to return before what it waited
// for, and no dependency can be told. The GPU's times are moved so that a launch takes about as
// long to reach the GPU as the end of work takes to reach the host.
#pragma once

#include "analysis/simulation/recorded_work.h"

namespace jarvis::analysis {

// Moves the works where times contradict each other; the median shift in microseconds, 0 if they do
// not. Durations stay.
double AlignClock(RecordedWork* recorded);

}  // namespace jarvis::analysis
