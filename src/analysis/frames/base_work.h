// What of a recording is in figures per step, and what the host does for them.
#pragma once

#include <vector>

#include "analysis/frames/time_frames.h"

namespace jarvis::analysis {

// GPU work that is in no figure per step, sorted: launched before the recording (`frames.foreign`),
// or outside of the steps that figures are of. Work goes with its launch; without one with the time
// at which it ran. `host`: of all steps.
std::vector<EventIndex> LeftOutWork(const FrameFacts& facts, const TimeFrames& frames,
                                    TimeSpan host);

// When the host was in ops and calls and did not wait. Stretches in neither count where they are as
// short as those between launches, batches that a loader without workers makes, too.
TimeSet HostOwnTime(const FrameFacts& facts);

}  // namespace jarvis::analysis
