// Transforms that the main process computes on the CPU while its loader makes a batch: the GPU has
// the same ops, for the whole batch at once.
#pragma once

#include <vector>

#include "findings/one/calls.h"
#include "findings/one/finding.h"
#include "findings/one/work_context.h"

namespace jarvis::findings {

// Told by ops with sizes below the ranges of a loader. Linear in host events, times the log of the
// loader's calls.
void FindLoaderTransforms(const Calls& calls, const WorkContext& context,
                          std::vector<Finding>* out);

}  // namespace jarvis::findings
