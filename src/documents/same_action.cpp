#include "documents/same_action.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "documents/impact_text.h"
#include "documents/markdown_text.h"
#include "findings/one/host_cause.h"
#include "findings/one/wall_plan.h"
#include "levers/placeholders.h"

namespace jarvis::documents {
namespace {

// What a finding's way out does: two of one key are one action.
struct Doing {
  std::string key;
  std::string part_of;  // the key of the action that takes it along; empty: none
};

// The facts that tell two uses of one fix apart, and the figures behind them.
std::string FactsOf(std::span<const std::string> keys, std::span<const findings::Fact> facts) {
  std::string text;
  for (const std::string& key : keys) {
    for (const findings::Fact& fact : facts) {
      if (fact.key == key || fact.key == key + "_ms") text += "\n" + FactText(fact);
    }
  }
  return text;
}

Doing DoingOf(const levers::Action& action, std::string_view given, const std::string& own,
              std::span<const findings::Fact> facts) {
  if (!given.empty()) return {std::string(given), {}};
  if (action.key.empty()) return {own + FactsOf(action.facts, facts), action.part_of};
  const auto named = levers::PlaceholdersOf(action.key);
  std::vector<std::string> keys;
  for (const levers::Placeholder& one : named)
    keys.push_back(one.key);
  return {action.key + FactsOf(keys, facts), action.part_of};
}

// Of the path that it begins with, whatever words say it.
Doing DoingOf(const findings::Analysis& analysis, const findings::Finding& finding) {
  const char chosen = DraftText(analysis, finding).chosen;
  const bool a = chosen == 'A';
  const Doing nothing{finding.id, {}};
  if (chosen == '\0') return nothing;
  if (const findings::RuleRow* row = finding.rule ? findings::RuleOf(*finding.rule) : nullptr) {
    for (const findings::PatternHit& hit : finding.patterns) {
      if (hit.pattern != *finding.rule) continue;
      return DoingOf(a ? row->action_a : row->action_b, a ? "" : finding.action_b,
                     std::string(findings::Info(*finding.rule).key) + chosen, hit.facts);
    }
    return nothing;
  }
  for (const findings::Remedy& remedy : a ? finding.path_a : finding.path_b) {
    if (!IsToldAsWay(remedy.advice)) continue;
    const findings::AdviceInfo& info = findings::Info(remedy.advice);
    return DoingOf(info.action, "", info.key, remedy.facts);
  }
  return nothing;
}

bool Covers(const Doing& first, const Doing& later) {
  return first.key == later.key || first.key == later.part_of;
}

bool Joins(const findings::Finding& finding) {
  return findings::BestWall(finding) != nullptr && !finding.one_off && finding.by_hand == nullptr;
}
// Of the host each place has work of its own, whatever the words for it are; what launches late
// does so everywhere.
bool JoinsOthers(const findings::Finding& finding) {
  const bool place =
      finding.host != nullptr && finding.host->kind != findings::HostCauseKind::kLaunchBound;
  return Joins(finding) && !place;
}

void Add(const findings::Range& more, findings::Range* sum) {
  for (double findings::Range::*part :
       {&findings::Range::low, &findings::Range::mid, &findings::Range::high})
    sum->*part += more.*part;
}

}  // namespace

std::string FirstClause(const std::string& action) {
  constexpr std::size_t kBytesMax = 220;
  std::size_t end = action.find(". ");
  int open = 0;
  for (std::size_t i = 0; i < action.size() && i < end; ++i) {
    open += action[i] == '(' ? 1 : action[i] == ')' ? -1 : 0;
    if (action[i] == ';' && open == 0) end = i;
  }
  std::string clause = action.substr(0, end);
  if (clause.size() > kBytesMax) {
    // A part that says something by itself, if there is one; else as many words as fit.
    const std::size_t part = std::max(clause.rfind(", ", kBytesMax), clause.rfind(" (", kBytesMax));
    const bool whole = part != std::string::npos && part > kBytesMax / 3;
    clause = clause.substr(0, whole ? part : clause.rfind(' ', kBytesMax));
    if (std::count(clause.begin(), clause.end(), '`') % 2 != 0)
      clause = clause.substr(0, clause.rfind('`'));
    while (!clause.empty() &&
           std::string_view(" ,:(").find(clause.back()) != std::string_view::npos)
      clause.pop_back();
    return whole ? clause : clause + " ...";
  }
  while (clause.ends_with('.'))
    clause.pop_back();
  return clause;
}

std::vector<ActionGroup> ActionGroups(const findings::Analysis& analysis, std::size_t count) {
  std::vector<ActionGroup> groups;
  std::vector<Doing> doings;  // by group
  for (std::size_t i = 0; i < std::min(count, analysis.findings.size()); ++i) {
    const findings::Finding& finding = analysis.findings[i];
    Doing doing = DoingOf(analysis, finding);
    std::size_t at = groups.size();
    for (std::size_t g = 0; g < groups.size() && at == groups.size(); ++g) {
      const bool joins = JoinsOthers(finding) && Joins(*groups[g].front());
      if (joins && Covers(doings[g], doing)) at = g;
    }
    if (at == groups.size()) {
      groups.emplace_back();
      doings.push_back(std::move(doing));
    }
    groups[at].push_back(&finding);
  }
  return groups;
}

findings::Range AloneOf(const ActionGroup& group) {
  findings::Range sum = findings::BestWall(*group.front())->ms;
  if (findings::IsWide(sum)) sum.low = 0;  // it says nothing but its upper end
  for (std::size_t i = 1; i < group.size(); ++i) {
    // What waits for another recommendation to show is worth nothing without it.
    const std::string& before = group[i]->shows_after;
    const bool shows =
        before.empty() ||
        std::any_of(group.begin(), group.end(), [&](const auto* one) { return one->id == before; });
    if (shows) Add(findings::AfterOthers(*findings::BestWall(*group[i])), &sum);
  }
  return sum;
}

findings::Range AfterOf(const ActionGroup& group) {
  findings::Range sum;
  for (const findings::Finding* one : group)
    Add(findings::AfterOthers(*findings::BestWall(*one)), &sum);
  return sum;
}

}  // namespace jarvis::documents
