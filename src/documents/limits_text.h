// What the first recommendations hang on and this trace does not tell.
#pragma once

#include <string>
#include <vector>

#include "findings/one/analysis.h"

namespace jarvis::documents {

// A sentence or two each, with what to record next; by rank of what hangs on it, a few at most.
std::vector<std::string> RecommendationLimits(const findings::Analysis& analysis);

}  // namespace jarvis::documents
