// ops_summary by phase: the parts of a step, beside the groupings of GPU work.
#pragma once

#include "session/trace_frames.h"
#include "tools/shared/answer.h"
#include "tools/shared/arguments.h"

namespace jarvis::tools {

// Rows of the parts whose names hold `filter` (lower case; empty: all) and that take at least
// `percent_min` of the step.
struct PhaseFilter {
  std::string text;
  double percent_min = 0;
};
void AddPhaseRows(const session::TraceFrames& frames, const PhaseFilter& filter,
                  std::uint64_t limit, Answer* answer);

}  // namespace jarvis::tools
