// The blocks that a pass of a model is made of, as its modules show them.
#pragma once

#include <vector>

#include "analysis/frames/frame_facts.h"

namespace jarvis::analysis {

// The calls, in a row, of the module class that has fewest of them and still much of the time; each
// until the next one begins, if that is soon. Empty: no class has some.
std::vector<TimeSpan> FindBlocks(const FrameFacts& facts);

}  // namespace jarvis::analysis
