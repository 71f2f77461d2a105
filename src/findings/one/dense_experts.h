// Experts that are all computed on all tokens, although a gate keeps one or two of them a token.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "findings/one/calls.h"
#include "findings/one/category_analysis.h"
#include "findings/one/finding.h"

namespace jarvis::findings {

// Whether a module's class is called a mixture of experts ("SwitchMoE", "MixtralExperts").
bool IsExpertsModule(std::string_view module_class);

// Modules called so that call several modules of one class, each with products of as many rows as
// the gate's: each token is in all of them. Absent: none, or sizes that do not prove it (no shapes,
// experts of unequal rows, rows that were routed). Pure; linear in events.
std::optional<Finding> FindDenseExperts(const Calls& calls,
                                        const std::vector<CategoryAnalysis>& categories);

}  // namespace jarvis::findings
