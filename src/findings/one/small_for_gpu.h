// Programs whose work is too small for a GPU; internal to the layer.
#pragma once

#include <vector>

#include "findings/one/calls.h"
#include "findings/one/finding.h"
#include "findings/one/work_context.h"

namespace jarvis::findings {

// At most one finding, about all of the trace. What a CPU would take is of ops whose model is
// known; of others a bound by their kernels' time.
void FindSmallForGpu(const Calls& calls, const WorkContext& context, std::vector<Finding>* out);

}  // namespace jarvis::findings
