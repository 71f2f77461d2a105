// Why work takes longer than it must: the rules of levers/catalogue, applied to a trace's
// operations.
#pragma once

#include <vector>

#include "findings/one/calls.h"
#include "findings/one/category_analysis.h"
#include "findings/one/work_context.h"

namespace jarvis::findings {

// Gives operations their cause, with evidence and targets, and replaces their estimate by that of
// the cause: savings_x = part_x of the time that goes away, at most the exclusive time. Operations
// that a chain has claimed (Operation::claimed) keep out. Causes that take less than
// limits::kCauseShare of the computing time or limits::kFindingMin of the window are dropped. n log
// n in operations and events.
void FindCauses(const Calls& calls, const WorkContext& context,
                std::vector<CategoryAnalysis>* categories);

}  // namespace jarvis::findings
