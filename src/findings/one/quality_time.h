// Qualities of the times: the profiler's cost, first calls, a host that did not run, clocks,
// durations.
#pragma once

#include <vector>

#include "findings/one/quality.h"

namespace jarvis::findings {

// Errors: kCancelled.
Result<void> AddTimeQualities(const session::LoadedTrace& trace, const Job& job,
                              std::vector<Quality>* list);

}  // namespace jarvis::findings
