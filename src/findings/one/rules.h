// What each kind of category looks for in its operations: classes, patterns, specifics.
#pragma once

#include "findings/one/baseline.h"
#include "findings/one/calls.h"
#include "findings/one/category_analysis.h"

namespace jarvis::findings {

// Fills classification, patterns, details and specifics of a category. `first`: its first
// operation's place in Calls::of_operation.
void ApplyRules(const Calls& calls, std::size_t first, const Baseline& baseline,
                CategoryAnalysis* category);

}  // namespace jarvis::findings
