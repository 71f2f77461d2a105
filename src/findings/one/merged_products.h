// Products of one input that the host launches one by one, while it sets the pace: one product with
// the weights side by side spares it all but one of them.
#pragma once

#include <vector>

#include "findings/one/calls.h"
#include "findings/one/category_analysis.h"
#include "findings/one/finding.h"
#include "findings/one/step_base.h"
#include "findings/one/time_scope.h"
#include "findings/one/work_context.h"

namespace jarvis::findings {

// Of eager inference whose GPU has nothing to do for most of the time; else none. The finding's
// change takes the host's calls and the launches away, which the simulation sizes.
std::vector<Finding> FindMergedProducts(const Calls& calls, const WorkContext& context,
                                        const std::vector<CategoryAnalysis>& categories,
                                        const StepBase& base, const TimeScope& scope);

}  // namespace jarvis::findings
