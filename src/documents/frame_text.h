// What is said about the frames of time: one sentence about the step, and notes that keep a reader
// from taking others' time for his own.
#pragma once

#include <string>
#include <vector>

#include "analysis/frames/time_frames.h"

namespace jarvis::documents {

// "Step 382.5 ms: host before the GPU 218.1, GPU 160.0 (busy 158.4), host after it 4.42." Parts add
// up; those below half a percent are left out. Without steps it is about the recording.
std::string StepSentence(const analysis::TimeFrames& frames);

// Foreign and unrecorded work, first calls and odd steps, a host that is alone: one sentence each,
// what takes most first; empty if there is none of it.
std::vector<std::string> FrameNotes(const analysis::TimeFrames& frames);

// A time in milliseconds with three or four digits: "0.268", "14.2", "382.5", "1195".
std::string FrameMs(std::int64_t ns);

}  // namespace jarvis::documents
