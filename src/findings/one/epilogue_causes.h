// Activations that a compiler left as kernels of their own behind a product.
#pragma once

#include <vector>

#include "findings/one/calls.h"
#include "findings/one/category_analysis.h"

namespace jarvis::findings {

// Gives generated kernels that apply an activation right behind a product their cause; before
// FindCauses, which drops the small ones. n log n in the GPU's events.
void FindEpilogues(const Calls& calls, std::vector<CategoryAnalysis>* categories);

}  // namespace jarvis::findings
