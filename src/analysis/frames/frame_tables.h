// The frames of time and the parts of a step as tables.
#pragma once

#include "analysis/frames/phases.h"
#include "analysis/frames/time_frames.h"
#include "table/table.h"

namespace jarvis::analysis {

// "time_frames": one row for the whole frame, one a step. Milliseconds; starts are from the
// frame's.
Table TimeFramesTable(const TimeFrames& frames);
// "time_parts": what the frame's time was, parts that add up to it.
Table TimePartsTable(const TimeFrames& frames);
// "phases": one row a part; milliseconds of a step (the mean over the steps looked at).
Table PhasesTable(const Phases& phases);

}  // namespace jarvis::analysis
