// Attention of a few queries (a token that is generated, a handful of prompts) written out in ops
// whose kernels are all short: one call spares the host their launches.
#pragma once

#include <vector>

#include "findings/one/calls.h"
#include "findings/one/finding.h"
#include "findings/one/work_context.h"

namespace jarvis::findings {

// Told by shapes, on the thread that launches. Linear in launches.
void FindFewQueryAttention(const Calls& calls, const WorkContext& context,
                           std::vector<Finding>* out);

}  // namespace jarvis::findings
