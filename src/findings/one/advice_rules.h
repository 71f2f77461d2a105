// Which ways out a finding has, by its category, bound, patterns and library.
#pragma once

#include <string_view>

#include "findings/one/category_analysis.h"
#include "findings/one/finding.h"

namespace jarvis::findings {

// Fills path_a and path_b; neither stays empty.
void AddAdvice(Kind kind, std::string_view category, Finding* finding);

}  // namespace jarvis::findings
