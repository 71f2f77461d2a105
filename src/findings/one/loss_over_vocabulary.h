// A loss over a large vocabulary whose logits are copied, cast and normalised as a whole: each of
// these passes moves all of them, and the backward pass as many again.
#pragma once

#include <vector>

#include "findings/one/calls.h"
#include "findings/one/category_analysis.h"
#include "findings/one/finding.h"

namespace jarvis::findings {

// Told by ops and shapes. Its operations are claimed. Linear in the ops.
void FindVocabularyLoss(const Calls& calls, std::vector<CategoryAnalysis>* categories,
                        std::vector<Finding>* out);

}  // namespace jarvis::findings
