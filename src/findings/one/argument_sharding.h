// Arguments of a compiled function that do not have the sharding it takes, so that each call copies
// them to other devices before it launches; internal to the layer.
#pragma once

#include <vector>

#include "findings/one/calls.h"
#include "findings/one/finding.h"
#include "findings/one/work_context.h"

namespace jarvis::findings {

// At most one finding, about all steps.
void FindArgumentSharding(const Calls& calls, const WorkContext& context,
                          std::vector<Finding>* out);

}  // namespace jarvis::findings
