// Backward passes of embeddings that sort their indices and update rows in fp32.
#pragma once

#include <vector>

#include "findings/one/category_analysis.h"

namespace jarvis::findings {

// Gives them their cause; before FindCauses, which drops the small ones.
void FindEmbeddings(std::vector<CategoryAnalysis>* categories);

}  // namespace jarvis::findings
