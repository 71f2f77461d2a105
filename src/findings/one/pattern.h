// What an analysis found, and the ways out that it names: keys of the catalogue of fixes
// (levers/fixes.h). What is said about them is the business of whoever writes reports.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "findings/one/fact.h"
#include "levers/fixes.h"

namespace jarvis::findings {

using levers::Advice;
using levers::AdviceInfo;
using levers::Info;
using levers::Path;
using levers::PathOf;
using levers::Pattern;
using levers::PatternInfo;
using levers::RuleOf;
using levers::RuleRow;

// One way out of one finding, with what it may save if that can be told apart from the finding's
// own estimate (such as the time of layout transposes).
struct Remedy {
  Advice advice = Advice::kNoneKnown;
  std::optional<Range> savings_ms;
  std::vector<Fact> facts;
};

// Whether one of them is something that the reader can do: to hand over a reproducer saves nothing
// by itself.
bool HasAction(std::span<const Remedy> path);

// Why a path has no way out.
Remedy NoWay(std::string reason);

struct PatternHit {
  Pattern pattern;
  std::vector<Fact> facts;  // the numbers that make it one
};

}  // namespace jarvis::findings
