// Which ways out a finding has, by its category, bound, patterns and library.
#pragma once

#include <string_view>

#include "workflow/category_analysis.h"
#include "workflow/finding.h"

namespace jarvis::workflow {

// Fills path_a and path_b; neither stays empty.
void AddAdvice(Kind kind, std::string_view category, Finding* finding);

}  // namespace jarvis::workflow
