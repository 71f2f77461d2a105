#include "documents/comparative_own.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/number_text.h"
#include "base/text.h"
#include "documents/comparative_saving.h"
#include "documents/comparative_words.h"
#include "documents/impact_text.h"
#include "documents/lever_table.h"
#include "documents/markdown_text.h"
#include "documents/prose.h"
#include "documents/same_action.h"
#include "findings/one/wall_plan.h"

namespace jarvis::documents {
namespace {

constexpr std::size_t kOwnLeversMax = 5;

// What findings of one action save by their better ways, of all units.
struct OwnSaving {
  findings::Range ms;  // zero: not known
  bool gpu = false;    // of the GPU's time; else of the wall time
  bool sized = true;   // false: all that it could be
};

findings::Range Exactly(double ms) {
  return {ms, ms, ms};
}

OwnSaving SavingOf(const findings::Finding& finding) {
  const findings::WallSaving* best = findings::BestWall(finding);
  const findings::Range gpu = finding.savings_ms.value_or(findings::Range{});
  // What one rank cannot size has a bound all the same, and its place by that.
  if (IsBound(finding)) return {Exactly(BoundOfAction(finding, TakesPathB(finding))), false, false};
  if (best == nullptr || !(best->ms.high > 0)) return {gpu, true};
  if (ShowsLater(finding) && gpu.high > 0) return {gpu, true};
  return {best->ms};
}

OwnSaving SavingOf(const ActionGroup& group) {
  OwnSaving saving = SavingOf(*group.front());
  if (group.size() == 1) return saving;
  if (!saving.gpu) {
    saving.ms = AloneOf(group);
    return saving;
  }
  for (std::size_t i = 1; i < group.size(); ++i) {
    const findings::Range more = group[i]->savings_ms.value_or(findings::Range{});
    saving.ms.low += more.low;
    saving.ms.mid += more.mid;
    saving.ms.high += more.high;
  }
  return saving;
}

bool FreesHost(const ActionGroup& group) {
  return std::any_of(group.begin(), group.end(),
                     [](const auto* one) { return findings::HelpsHost(*one); });
}

double EachHigh(const ComparativeFacts& facts, const OwnSaving& saving) {
  return saving.ms.high / facts.pair.balance.units[0];
}

std::string ImpactOf(const ComparativeFacts& facts, const ActionGroup& group,
                     const OwnSaving& saving) {
  const double high = EachHigh(facts, saving);
  if (!(high > 0)) return {};
  if (!saving.sized)
    return fmt::format("at most {} of wall time {}: one rank cannot split waiting from transfer.",
                       Ms(high), UnitText(facts));
  const std::string range = SavingText(facts, saving.ms);
  if (saving.gpu) return GpuSavingText(facts, range, high, FreesHost(group)) + ".";
  std::string text = fmt::format("{} of wall time {}", range, UnitText(facts));
  const findings::Range after = AfterOf(group);
  if (after.high > 0 && after.mid < 0.5 * saving.ms.mid)
    text += fmt::format("; {} once what stands before it is done", SavingText(facts, after));
  return text + ".";
}

// The ways of the candidate's own analysis, the one that saves more first. What each saves by
// itself is told of one finding alone.
std::vector<LeverWay> WaysOfOwn(const ComparativeFacts& facts, const ActionGroup& group,
                                const FindingText& draft, const OwnSaving& best) {
  const findings::Finding& finding = *group.front();
  std::vector<std::pair<double, LeverWay>> ways;
  // Of the base that the finding's own saving has: GPU time, or wall time.
  const auto add = [&](char path, const std::string& words,
                       const std::optional<findings::WallSaving>& wall,
                       const std::optional<findings::Change>& change) {
    std::string text(Trim(words));
    if (text.ends_with('.')) text.pop_back();
    findings::Range own = best.gpu ? (change ? change->savings_ms : findings::Range{})
                          : wall   ? wall->ms
                                   : findings::Range{};
    if (!(own.high > 0) || own.high > best.ms.high) own = best.ms;
    const bool told = own.high > 0 && best.sized && group.size() == 1;
    ways.emplace_back(
        own.high,
        LeverWay{path, std::move(text),
                 told ? SavingText(facts, own) + (best.gpu ? " of GPU time" : "") : std::string()});
  };
  if (draft.way_a) add('A', draft.path_a, finding.wall_a, finding.change_a);
  if (draft.way_b) add('B', draft.path_b, finding.wall_b, finding.change_b);
  std::stable_sort(ways.begin(), ways.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<LeverWay> sorted;
  for (auto& [ms, way] : ways)
    sorted.push_back(std::move(way));
  return sorted;
}

// Its words, without savings in its sentences, which are of another base.
FindingText WordsOf(const ComparativeFacts& facts, const findings::Finding& finding) {
  findings::Finding plain = finding;
  for (auto* wall : {&plain.wall_a, &plain.wall_b})
    wall->reset();
  for (auto* change : {&plain.change_a, &plain.change_b})
    change->reset();
  FindingText draft = DraftText(*facts.pair.primary, plain);
  if (finding.category == "cpu_idle")
    draft.title = draft.title.substr(0, draft.title.find(", GPU idle "));
  return draft;
}

LeverText TextOfOwn(const ComparativeFacts& facts, const ActionGroup& group) {
  const FindingText draft = WordsOf(facts, *group.front());
  LeverText text;
  text.own = true;
  text.title = draft.title;
  text.gap = draft.insight;
  for (std::size_t i = 1; i < group.size(); ++i) {
    const FindingText more = WordsOf(facts, *group[i]);
    const std::string title = ShortTitle(more.title);
    if (text.title.find(title) == std::string::npos) text.title += "; " + title;
    text.gap += " " + more.insight;
  }
  text.why = text.title;
  const OwnSaving saving = SavingOf(group);
  text.ways = WaysOfOwn(facts, group, draft, saving);
  const double high = EachHigh(facts, saving);
  if (!saving.sized) {
    text.saves = "at most " + Ms(high);
  } else if (high > 0) {
    const std::string range = SavingText(facts, saving.ms);
    text.saves = saving.gpu ? GpuSavingCell(facts, range, high) : range;
  }
  // Launches that come late are no GPU time, and a replay of them needs no host.
  for (const findings::Finding* one : group) {
    if (one->category != "cpu_idle" && one->savings_ms)
      text.gpu_ms += one->savings_ms->high / facts.pair.balance.units[0];
  }
  text.order_ms = kBoundPart * (saving.gpu ? WallMs(facts, high) : high);
  text.impact = ImpactOf(facts, group, saving);
  const auto& beside = facts.pair.beside_runs;
  text.shares_kernels = std::any_of(group.begin(), group.end(), [&](const auto* one) {
    return std::find(beside.begin(), beside.end(), one) != beside.end();
  });
  if (text.shares_kernels)
    text.impact +=
        " Some of its kernels are those of the memory-bound rows, so that the two overlap.";
  return text;
}

}  // namespace

std::vector<LeverText> OwnLevers(const ComparativeFacts& facts) {
  const findings::Analysis& analysis = *facts.pair.primary;
  const auto& own = facts.pair.own;
  std::vector<LeverText> levers;
  std::optional<double> before;  // what the last one is worth: none after it stands before it
  for (const ActionGroup& all : ActionGroups(analysis, analysis.findings.size())) {
    ActionGroup group;
    for (const findings::Finding* one : all) {
      if (std::find(own.begin(), own.end(), one) != own.end()) group.push_back(one);
    }
    if (group.empty() || levers.size() == kOwnLeversMax) continue;
    LeverText text = TextOfOwn(facts, group);
    // What has neither a way nor a figure is a limit, and told there.
    if (text.ways.empty() && text.impact.empty()) continue;
    if (text.order_ms > 0) {
      text.order_ms = std::min(text.order_ms, before.value_or(text.order_ms));
      before = text.order_ms;
    }
    levers.push_back(std::move(text));
  }
  return levers;
}

}  // namespace jarvis::documents
