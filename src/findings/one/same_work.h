// The same work against itself: kernels that take longer from one moment on, all by one factor (the
// clock), and calls of equal sizes of which a few are far slower than the others.
#pragma once

#include <vector>

#include "findings/one/calls.h"
#include "findings/one/finding.h"
#include "ledger/kinds/kinds_of_work.h"

namespace jarvis::findings {

// Pure; n log n in kernels.
std::vector<Finding> FindSameWork(const Calls& calls, const ledger::KindsOfWork& kinds,
                                  const std::vector<CategoryAnalysis>& categories);

}  // namespace jarvis::findings
