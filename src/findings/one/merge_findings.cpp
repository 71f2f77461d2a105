#include "findings/one/merge_findings.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "findings/one/category_analysis.h"

namespace jarvis::findings {
namespace {

// Path by path what is to be done; empty: a rule's, whose words are its own, or nothing to be done.
std::string ActionsOf(const Finding& finding) {
  if (finding.rule || finding.host || finding.tier != Tier::kCompute) return {};
  if (!HasAction(finding.path_a) && !HasAction(finding.path_b)) return {};
  std::string actions;
  for (const auto* path : {&finding.path_a, &finding.path_b}) {
    for (const Remedy& remedy : *path)
      actions += std::string(Info(remedy.advice).key) + "/";
    actions += "|";
  }
  // What is known of one with a saving is not known of one without.
  return actions + (finding.savings_ms ? "sized" : "");
}

bool OnlyCompiles(const Finding& finding) {
  if (finding.rule || finding.host || finding.tier != Tier::kCompute) return false;
  const auto compiles = [](const Remedy& remedy) { return remedy.advice == Advice::kCompile; };
  return finding.path_a.empty() && !finding.path_b.empty() &&
         std::all_of(finding.path_b.begin(), finding.path_b.end(), compiles);
}

void AddRange(const std::optional<Range>& more, std::optional<Range>* to) {
  if (!more || !*to) return;
  for (double Range::*part : {&Range::low, &Range::mid, &Range::high})
    (**to).*part += (*more).*part;
}

void AddNumber(const std::optional<double>& more, std::optional<double>* to) {
  if (more && *to) **to += *more;
}

void AddChange(const std::optional<Change>& more, std::optional<Change>* to) {
  if (!more) return;
  if (!*to) {
    *to = more;
    return;
  }
  (*to)->parts.insert((*to)->parts.end(), more->parts.begin(), more->parts.end());
  for (double Range::*part : {&Range::low, &Range::mid, &Range::high})
    (*to)->savings_ms.*part += more->savings_ms.*part;
}

void MergeInto(const Finding& from, Finding* to) {
  // Both are of known share of a roof, or the whole has none.
  if (to->efficiency && from.efficiency && to->time_ms + from.time_ms > 0) {
    to->efficiency = (*to->efficiency * to->time_ms + *from.efficiency * from.time_ms) /
                     (to->time_ms + from.time_ms);
  } else {
    to->efficiency.reset();
  }
  to->band = BandOf(to->efficiency);
  to->time_ms += from.time_ms;
  to->exclusive_ms += from.exclusive_ms;
  to->count += from.count;
  AddNumber(from.upper_bound_ms, &to->upper_bound_ms);
  AddNumber(from.percent_of_total, &to->percent_of_total);
  AddNumber(from.percent_of_computation, &to->percent_of_computation);
  AddRange(from.impact_percent, &to->impact_percent);
  AddRange(from.savings_ms, &to->savings_ms);
  AddChange(from.change_a, &to->change_a);
  AddChange(from.change_b, &to->change_b);
  to->members.insert(to->members.end(), from.members.begin(), from.members.end());
  for (const std::string& path : from.module_paths) {
    const auto& known = to->module_paths;
    if (known.size() < 3 && std::find(known.begin(), known.end(), path) == known.end())
      to->module_paths.push_back(path);
  }
  to->row_ids.insert(to->row_ids.end(), from.row_ids.begin(), from.row_ids.end());
  to->evidence.insert(to->evidence.end(), from.evidence.begin(), from.evidence.end());
}

// "layer_norm" of its forward and backward ops; empty: another one.
std::string_view KindOfNorm(std::string_view op) {
  for (const std::string_view kind :
       {"batch_norm", "layer_norm", "group_norm", "instance_norm", "rms_norm"}) {
    if (op.find(kind) != std::string_view::npos) return kind;
  }
  return {};
}

// A normalisation that only a compiler makes faster: one of few blocks of its kind says why.
void MergeNorms(std::vector<Finding>* findings) {
  const auto few = std::find_if(findings->begin(), findings->end(), [](const Finding& finding) {
    return finding.rule == Pattern::kFewRowsNorm;
  });
  if (few == findings->end()) return;
  const auto same = [kind = KindOfNorm(few->subject)](const Finding& finding) {
    const auto compiles = [](const Remedy& remedy) { return remedy.advice == Advice::kCompile; };
    return !finding.rule && !finding.host && finding.tier == Tier::kCompute &&
           KindOf(finding.category) == Kind::kNorm && !finding.path_b.empty() &&
           KindOfNorm(finding.subject) == kind &&
           std::all_of(finding.path_b.begin(), finding.path_b.end(), compiles);
  };
  for (const Finding& finding : *findings) {
    if (same(finding)) MergeInto(finding, &*few);
  }
  few->change_a.reset();
  std::erase_if(*findings, same);
}

bool TellsLayout(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    const bool precision = finding.rule == Pattern::kHalfPrecisionOff && !finding.patterns.empty();
    return precision &&
           std::any_of(finding.patterns.front().facts.begin(), finding.patterns.front().facts.end(),
                       [](const Fact& fact) { return fact.key == "layout"; });
  });
}

// Nothing but another layout, whose saving nobody knows.
bool OnlyLayout(const Finding& finding) {
  if (finding.rule || finding.tier != Tier::kCompute || finding.savings_ms) return false;
  return !finding.path_a.empty() &&
         std::all_of(finding.path_a.begin(), finding.path_a.end(),
                     [](const Remedy& remedy) { return remedy.advice == Advice::kChannelsLast; });
}

// "BertLayer" of "Bert / Encoder / BertLayer / Output" and "Bert / Encoder / BertLayer": what
// holds all of them; empty: nothing below the root does.
std::string CommonModule(const std::vector<std::string>& paths) {
  constexpr std::string_view kBelow = " / ";
  if (paths.empty()) return {};
  std::string_view common = paths.front();
  for (const std::string& path : paths) {
    while (!common.empty() && path != common && !path.starts_with(std::string(common) + " / ")) {
      const std::size_t cut = common.rfind(kBelow);
      common = cut == common.npos ? std::string_view() : common.substr(0, cut);
    }
  }
  const std::size_t last = common.rfind(kBelow);
  return std::string(last == common.npos ? common : common.substr(last + kBelow.size()));
}

void NameCompiledModule(Finding* finding) {
  for (Remedy& remedy : finding->path_b) {
    if (remedy.advice != Advice::kCompile) continue;
    const std::string module = CommonModule(finding->module_paths);
    if (!module.empty()) remedy.facts.push_back({"module", module, {}});
  }
}

}  // namespace

void MergeByAction(std::vector<Finding>* findings) {
  const auto chains = std::find_if(findings->begin(), findings->end(), [](const Finding& finding) {
    return finding.rule == Pattern::kEagerChains;
  });
  // What a compiler makes faster beside its chains is theirs, unless it is more than all of them.
  if (chains != findings->end()) {
    const double most_ms = chains->savings_ms ? chains->savings_ms->mid : 0;
    const bool chains_model = chains->action_b == "compile_model";
    std::erase_if(*findings, [&](const Finding& one) {
      return OnlyCompiles(one) && (!one.savings_ms || one.savings_ms->mid <= most_ms);
    });
    for (Finding& one : *findings) {
      if (chains_model && OnlyCompiles(one)) one.path_b = {{Advice::kCompileWhole, {}, {}}};
    }
  }
  MergeNorms(findings);
  if (TellsLayout(*findings)) std::erase_if(*findings, &OnlyLayout);
  std::map<std::string, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < findings->size(); ++i) {
    std::string actions = ActionsOf((*findings)[i]);
    if (!actions.empty()) alike[std::move(actions)].push_back(i);
  }
  std::set<std::size_t> gone;
  for (const auto& [actions, same] : alike) {
    const auto longest =
        std::max_element(same.begin(), same.end(), [&](std::size_t a, std::size_t b) {
          return (*findings)[a].time_ms < (*findings)[b].time_ms;
        });
    for (const std::size_t i : same) {
      if (i == *longest) continue;
      MergeInto((*findings)[i], &(*findings)[*longest]);
      gone.insert(i);
    }
  }
  std::vector<Finding> kept;
  for (std::size_t i = 0; i < findings->size(); ++i) {
    if (!gone.contains(i)) kept.push_back(std::move((*findings)[i]));
  }
  *findings = std::move(kept);
  for (Finding& finding : *findings)
    NameCompiledModule(&finding);
}

}  // namespace jarvis::findings
