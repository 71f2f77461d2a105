// What every match of a regular expression must contain: the cheap question before the dear one.
#pragma once

#include <string_view>
#include <vector>

namespace jarvis::ledger {

// One of these is in every match. Each has kLiteralMin bytes or more.
using LiteralSet = std::vector<std::string_view>;
inline constexpr std::size_t kLiteralMin = 3;

// Sets of which every match has a literal each, whatever the case of its letters; the set that
// tells most comes first. Empty: nothing is known. Views of the expression. REQUIRES: a valid RE2
// expression, its letters in lower case (which changes what it matches, and not what is said here).
// RE2 offers the same (re2::FilteredRE2), but only of expressions that it has compiled, and
// compiling is what this avoids.
std::vector<LiteralSet> RequiredLiterals(std::string_view lower_expression);

}  // namespace jarvis::ledger
