// Optimizers that update lists of parameters op by op: each `aten::_foreach_*` reads and writes the
// whole state, which one fused kernel does once. The parameters' sizes need not be known: what the
// ops move is so many tensors' worth each.
//
// Source: the passes of PyTorch's torch/optim/adam.py and sgd.py (_multi_tensor_*), and what
// `_fused_adamw_` and `_fused_sgd_` read and write: of Adam parameter, gradient and two moments in,
// parameter and moments out (7); of SGD parameter and gradient in, parameter out (3), with momentum
// the buffer in and out as well (5).
#pragma once

#include <vector>

#include "findings/one/calls.h"
#include "findings/one/category_analysis.h"
#include "findings/one/finding.h"
#include "findings/one/work_context.h"

namespace jarvis::findings {

// Adds a finding if Adam, AdamW or SGD runs so. Its operations are claimed (Operation::claimed). n
// log n in the events.
void FindForeachOptimizer(const Calls& calls, const WorkContext& context,
                          std::vector<CategoryAnalysis>* categories, std::vector<Finding>* out);

}  // namespace jarvis::findings
