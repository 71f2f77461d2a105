// Activations that a compiler left as kernels of their own behind a product.
#pragma once

#include <vector>

#include "findings/one/calls.h"
#include "findings/one/category_analysis.h"
#include "findings/one/work_context.h"
#include "ledger/kinds/kinds_of_work.h"

namespace jarvis::findings {

// Gives generated kernels that apply an activation right behind a product their cause; before
// FindCauses, which drops the small ones. n log n in the GPU's events.
void FindEpilogues(const Calls& calls, const ledger::KindsOfWork& kinds, const WorkContext& context,
                   std::vector<CategoryAnalysis>* categories);

}  // namespace jarvis::findings
