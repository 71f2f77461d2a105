// Findings of a recording without ops: what the names of its kernels tell.
#pragma once

#include <vector>

#include "findings/one/calls.h"
#include "findings/one/finding.h"

namespace jarvis::findings {

// Empty for a trace with ops: these tell more.
std::vector<Finding> FindingsByKernel(const Calls& calls);

}  // namespace jarvis::findings
