// Rows that are gathered by one index, scaled by one number each and added up by another: a product
// with a sparse matrix, whose every edge is written to memory and read again.
#pragma once

#include <vector>

#include "findings/one/calls.h"
#include "findings/one/category_analysis.h"
#include "findings/one/finding.h"

namespace jarvis::findings {

// Told by ops and shapes, in both passes. Its operations are claimed. Linear in the ops.
void FindSparseProducts(const Calls& calls, std::vector<CategoryAnalysis>* categories,
                        std::vector<Finding>* out);

}  // namespace jarvis::findings
