// What every match of a regular expression must contain: the cheap question before the dear one.
#pragma once

#include <string_view>
#include <vector>

namespace jarvis::ledger {

// One of these is in every match. Each has kLiteralMin bytes or more.
using LiteralSet = std::vector<std::string_view>;
inline constexpr std::size_t kLiteralMin = 3;

// The ways in which it can match, its alternatives: every match of one has a literal of each of its
// sets, whatever the case of its letters; the set that tells most comes first. Empty: of one of
// them nothing is known. Views of the expression. REQUIRES: a valid expression, its letters in
// lower case (which changes what it matches, and not what is said here).
std::vector<std::vector<LiteralSet>> RequiredLiterals(std::string_view lower_expression);

}  // namespace jarvis::ledger
