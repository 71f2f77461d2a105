#include "documents/same_action.h"

#include <algorithm>
#include <string_view>

#include "documents/impact_text.h"
#include "findings/one/wall_plan.h"

namespace jarvis::documents {
namespace {

// Settings that are turned on once, whatever a sentence says around them.
constexpr std::string_view kSettings[] = {"PYTORCH_TUNABLEOP_TUNING=1",
                                          "PYTORCH_TUNABLEOP_ENABLED=1", "torch.channels_last",
                                          "`mode=\"max-autotune\"`"};
// Where the whole model is compiled, so is each part of it.
constexpr std::string_view kWhole = "Compile the model";
constexpr std::string_view kParts[] = {"Wrap the module that holds these ops",
                                       "Compile the normalisation"};

std::string KeyOf(const std::string& action) {
  std::string clause = FirstClause(action);
  for (const std::string_view setting : kSettings) {
    if (clause.find(setting) != std::string::npos) return std::string(setting);
  }
  return clause.starts_with(kWhole) ? std::string(kWhole) : clause;
}

bool Covers(const std::string& key, const std::string& later) {
  if (key == later) return true;
  return key == kWhole &&
         std::any_of(std::begin(kParts), std::end(kParts),
                     [&](std::string_view part) { return later.starts_with(part); });
}

// Of the host each place has work of its own, whatever the words for it are.
bool Joins(const findings::Finding& finding) {
  return findings::BestWall(finding) != nullptr && !finding.one_off && finding.by_hand == nullptr;
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

std::vector<ActionGroup> ActionGroups(const findings::Analysis& analysis, const TextEdits& edits,
                                      std::size_t count) {
  std::vector<ActionGroup> groups;
  std::vector<std::string> keys;  // by group
  for (std::size_t i = 0; i < std::min(count, analysis.findings.size()); ++i) {
    const findings::Finding& finding = analysis.findings[i];
    const std::string key = KeyOf(TextOf(analysis, finding, edits).action);
    std::size_t at = groups.size();
    for (std::size_t g = 0; g < groups.size() && at == groups.size(); ++g) {
      const bool joins = Joins(finding) && finding.host == nullptr && Joins(*groups[g].front());
      if (joins && Covers(keys[g], key)) at = g;
    }
    if (at == groups.size()) {
      groups.emplace_back();
      keys.push_back(key);
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
