// One step cut into parts, by what stands in it.
#pragma once

#include <string>
#include <vector>

#include "analysis/frames/phases.h"

namespace jarvis::analysis {

struct FramePart {
  std::string name;
  PhaseKind kind = PhaseKind::kOther;
  PhaseSource source = PhaseSource::kRest;
  TimeSpan host{};
  int level = 0;
};

// By start, those of level 1 after the part they are in. `span`: the step on the frames' thread.
std::vector<FramePart> PartsOf(const FrameFacts& facts, TimeSpan span);

}  // namespace jarvis::analysis
