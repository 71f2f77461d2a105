// GEMMs that XLA generates with Triton, where a library's GEMM of like work is faster in the same
// trace; internal to the layer.
#pragma once

#include <vector>

#include "findings/one/calls.h"
#include "findings/one/category_analysis.h"
#include "findings/one/finding.h"
#include "findings/one/work_context.h"

namespace jarvis::findings {

// At most one finding, about all of them. Their operations are claimed.
void FindTritonProducts(const Calls& calls, const WorkContext& context,
                        std::vector<CategoryAnalysis>* categories, std::vector<Finding>* out);

}  // namespace jarvis::findings
