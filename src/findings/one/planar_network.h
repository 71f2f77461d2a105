// A convolutional network whose tensors lie in NCHW while its convolutions run on tensor cores,
// which take NHWC: one change of the model makes its convolutions, their layout conversions and its
// batch norms faster together.
#pragma once

#include <vector>

#include "findings/one/calls.h"
#include "findings/one/category_analysis.h"
#include "findings/one/work_context.h"

namespace jarvis::findings {

// Gives the operations of such a network one cause, before the rules for single operations
// (FindCauses) see them.
void FindPlanarNetwork(const Calls& calls, const WorkContext& work,
                       std::vector<CategoryAnalysis>* categories);

}  // namespace jarvis::findings
