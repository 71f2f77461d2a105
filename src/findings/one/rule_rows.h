// The rules of an expert, one row each: what it looks for, what it says, where it keeps silent, and
// where its target comes from. Reports and docs/rules.md are made of these rows.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "findings/one/fact.h"
#include "findings/one/pattern.h"

namespace jarvis::findings {

struct RuleRow {
  Pattern pattern;
  std::string_view signature;  // what in the trace makes it one
  // Texts with {key} for the finding's facts. Evidence goes on after "... takes 3 ms"; an empty
  // path is one that is not known to help.
  std::string_view evidence;
  std::string_view path_a;
  std::string_view path_b;
  std::string_view excluded;  // where it does not hold
  std::string_view target;
  std::string_view source;  // of the target
};
std::span<const RuleRow> RuleRows();
const RuleRow* RuleOf(Pattern pattern);  // null: no rule of this kind

// A text with its {keys} replaced by the facts; a key that no fact has becomes "?". What stands in
// [[double brackets]] falls away unless all of its keys have facts with a text.
std::string FillRule(std::string_view text, std::span<const Fact> facts,
                     std::string (*write)(const Fact&));

}  // namespace jarvis::findings
