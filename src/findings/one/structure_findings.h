// Findings about a trace as a whole, which no operation and no pair of neighbours shows: fp32
// arithmetic beside idle tensor cores, copies that graphs and collectives make necessary, forward
// work that is done again. What they say stands in levers/catalogue.
#pragma once

#include <vector>

#include "findings/one/calls.h"
#include "findings/one/category_analysis.h"
#include "findings/one/finding.h"
#include "findings/one/fusion.h"
#include "findings/one/work_context.h"

namespace jarvis::findings {

// Operations most of whose time belongs to one of these findings are claimed: they get no finding
// of their own, and chains of which one of them has most are none. n log n in events.
std::vector<Finding> FindStructures(const Calls& calls, const WorkContext& context,
                                    std::vector<CategoryAnalysis>* categories,
                                    FusionAnalysis* fusion);

// Puts them behind others of the category "multi_kernel", those that are worth it.
void AddStructures(std::vector<Finding> structures, double window_ms, std::vector<Finding>* all);

}  // namespace jarvis::findings
