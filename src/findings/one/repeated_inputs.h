// Work on copies that are equal; internal to the layer.
#pragma once

#include <vector>

#include "findings/one/calls.h"
#include "findings/one/finding.h"
#include "findings/one/work_context.h"

namespace jarvis::findings {

// One tensor repeated over a batch and computed on copy by copy while all copies are equal.
void FindEqualCopies(const Calls& calls, const WorkContext& context, std::vector<Finding>* out);

}  // namespace jarvis::findings
