// The texts of the catalogue of fixes (levers/fixes.h), filled with what a finding knows.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "findings/one/fact.h"

namespace jarvis::findings {

// A text with its {keys} replaced by the facts; a key that no fact has becomes "?". What stands in
// [[double brackets]] falls away unless all of its keys have facts with a text.
std::string FillRule(std::string_view text, std::span<const Fact> facts,
                     std::string (*write)(const Fact&));

}  // namespace jarvis::findings
