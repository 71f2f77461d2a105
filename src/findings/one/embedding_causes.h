// Backward passes of embeddings that sort their indices and update rows in fp32.
#pragma once

#include <optional>
#include <vector>

#include "findings/one/category_analysis.h"

namespace jarvis::findings {

// Gives them their cause; before FindCauses, which drops the small ones.
void FindEmbeddings(std::optional<double> tb_per_s, std::vector<CategoryAnalysis>* categories);

}  // namespace jarvis::findings
