// Weights that autocast casts from fp32 to 16 bits in each step, each with a launch of its own, and
// in training their gradients back. Weights that are kept in 16 bits need neither.
#pragma once

#include <vector>

#include "findings/one/calls.h"
#include "findings/one/finding.h"
#include "findings/one/work_context.h"

namespace jarvis::findings {

// Told by the ops that autocast wraps, with sizes: the op stands in itself once more, with operands
// of 16 bits, and beside it the casts. Operations that are such casts are claimed.
void FindAutocastWeights(const Calls& calls, const WorkContext& context,
                         std::vector<CategoryAnalysis>* categories, std::vector<Finding>* out);

}  // namespace jarvis::findings
