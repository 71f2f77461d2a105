// Products of a tensor that no step makes, computed again in each; internal to the layer.
#pragma once

#include <vector>

#include "findings/one/calls.h"
#include "findings/one/finding.h"
#include "findings/one/work_context.h"

namespace jarvis::findings {

// At most one finding: keys and values of a prompt or an encoder's output are such products.
void FindConstantProjections(const Calls& calls, const WorkContext& context,
                             std::vector<Finding>* out);

}  // namespace jarvis::findings
