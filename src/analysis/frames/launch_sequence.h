// GPU work in the order of its launches, as a sequence in which repetition can be looked for.
#pragma once

#include <vector>

#include "analysis/frames/frame_facts.h"
#include "analysis/frames/repetition.h"

namespace jarvis::analysis {

struct LaunchSequence {
  std::vector<SequenceItem> items;  // by launch; equal: same kernel, same op, same shapes
  std::vector<LaunchedWork> work;   // the same places
};

// What was launched in the span, on whatever thread.
LaunchSequence LaunchesIn(const FrameFacts& facts, TimeSpan span);

}  // namespace jarvis::analysis
