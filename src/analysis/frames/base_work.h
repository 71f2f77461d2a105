// What of a recording is in no figure per step.
#pragma once

#include <vector>

#include "analysis/frames/time_frames.h"

namespace jarvis::analysis {

// GPU work that is in no figure per step, sorted: launched before the recording (`frames.foreign`),
// or outside of the steps that figures are of. Work goes with its launch; without one with the time
// at which it ran. `host`: of all steps.
std::vector<EventIndex> LeftOutWork(const FrameFacts& facts, const TimeFrames& frames,
                                    TimeSpan host);

}  // namespace jarvis::analysis
