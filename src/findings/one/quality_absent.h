// What of a workload is not in its recording: inputs and results, a second step, an optimizer,
// other ranks, other sizes. Facts of the one trace; what it holds is not told to be missing.
#pragma once

#include <vector>

#include "findings/one/quality.h"

namespace jarvis::findings {

inline constexpr char kNotRecorded[] = "not_recorded";  // the code of this quality

// After all others: what one of them says is not said again.
void AddAbsentParts(const session::LoadedTrace& trace, const Analysis& analysis,
                    std::vector<Quality>* list);

}  // namespace jarvis::findings
