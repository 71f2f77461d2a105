// A pass of the model that trains, run again in every step for figures that only the host reads;
// internal to the layer.
#pragma once

#include <vector>

#include "findings/one/calls.h"
#include "findings/one/finding.h"
#include "findings/one/work_context.h"

namespace jarvis::findings {

// At most one finding, about all steps.
void FindEvaluationPasses(const Calls& calls, const WorkContext& context,
                          std::vector<Finding>* out);

}  // namespace jarvis::findings
