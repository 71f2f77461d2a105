#include "documents/impact_text.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "documents/added_prose.h"
#include "documents/base_text.h"
#include "documents/lever_table.h"
#include "documents/markdown_text.h"
#include "documents/saving_base.h"
#include "documents/time_parts.h"
#include "findings/one/thresholds.h"
#include "findings/one/wall_classes.h"
#include "findings/one/wall_plan.h"
#include "levers/fixes.h"
#include "phrases/ids/impact.h"
#include "phrases/phrase.h"

namespace jarvis::documents {

bool MovesData(const findings::Finding& finding) {
  const std::string& name = finding.category_name;
  return finding.category == "multi_kernel" &&
         (name == "Multi-Kernel Analysis" || name == "Copies" ||
          name == "Communication and copies");
}

double OnceMs(const findings::Finding& finding) {
  constexpr double kNearly = 0.95;
  const double saved = findings::BestWall(finding)->ms.mid;
  return saved >= kNearly * finding.time_ms ? finding.time_ms : saved;
}

bool IsPaidOnce(const findings::Finding& finding) {
  return finding.one_off && finding.host != nullptr &&
         finding.host->kind == findings::HostCauseKind::kFirstCalls;
}

std::string OfEqualCalls(const findings::Finding& finding) {
  if (finding.rule != findings::Pattern::kSlowCalls || finding.patterns.empty()) return "";
  const auto count = [&](std::string_view key) {
    const auto& facts = finding.patterns.front().facts;
    const auto fact = std::ranges::find(facts, key, &findings::Fact::key);
    const auto* const number =
        fact == facts.end() ? nullptr : std::get_if<std::int64_t>(&fact->value);
    return number == nullptr ? std::string() : fmt::format("{}", *number);
  };
  const std::string slow = count("slow"), calls = count("calls");
  if (slow.empty() || calls.empty()) return "";
  return fmt::format(" ({} of {} of equal size in all)", slow, calls);
}

std::string OnceCell(const findings::Finding& finding) {
  const std::string ms = Ms(OnceMs(finding));
  return IsPaidOnce(finding) ? fmt::format("one-time cost: {} at the start of each process", ms)
                             : ms + " once";
}

bool ShowsLater(const findings::Finding& finding) {
  if (!finding.shows_after.empty()) return true;
  constexpr double kNothing = 0.05;  // of the GPU's time that goes
  const findings::WallSaving* best = findings::BestWall(finding);
  return best != nullptr && finding.host == nullptr && finding.tier == findings::Tier::kCompute &&
         finding.savings_ms && best->ms.high <= kNothing * finding.savings_ms->mid;
}

bool AddsLaunches(const findings::Analysis& analysis, const findings::Finding& finding) {
  constexpr std::string_view kAutocast = "autocast_16_bits";  // the key of an action
  const findings::RuleRow* row = finding.rule ? findings::RuleOf(*finding.rule) : nullptr;
  const bool autocast =
      row != nullptr && (row->action_a.key == kAutocast || row->action_a.part_of == kAutocast);
  const findings::WallBase& wall = analysis.wall;
  return autocast && analysis.context.training && !analysis.context.compiled &&
         ShowsLater(finding) && wall.host_floor_ms > wall.gpu_floor_ms;
}

std::string AloneText(const findings::Analysis& analysis, const findings::Finding& finding) {
  constexpr double kAlmostNothing = 0.5;  // percent of the base
  const findings::Range& alone = findings::BestWall(finding)->ms;
  if (ShowsLater(finding) && analysis.base.Percent(alone.high) < kAlmostNothing)
    return "almost nothing";
  return EachRange(analysis, alone);
}

std::string LaterText(const findings::Analysis& analysis, const findings::Finding& finding) {
  if (finding.shows_after.empty()) {
    return Say(phrases::impact::kLater,
               {{"host", HostHidesGpu(analysis)},
                {"saving", EachMs(analysis, finding.OwnSavingsMs().high)}});
  }
  const std::string saving = AfterText(analysis, *findings::BestWall(finding));
  const std::string place = PlaceOf(analysis, finding.shows_after);
  if (AddsLaunches(analysis, finding))
    return Say(phrases::impact::kCostsAlone, {{"saving", saving}, {"place", place}});
  return Say(phrases::impact::kAfter,
             {{"alone", AloneText(analysis, finding)}, {"saving", saving}, {"place", place}});
}

bool LeavesNothing(const findings::Analysis& analysis, const findings::Finding& finding) {
  constexpr double kNothing = 0.1;  // percent of the base
  const findings::WallSaving* best = findings::BestWall(finding);
  if (best == nullptr || finding.one_off) return false;
  return analysis.base.Percent(findings::AfterOthers(*best).high) < kNothing;
}

std::string BeyondText(const findings::Analysis& analysis, const findings::Finding& finding) {
  constexpr double kRounded = 1.02;
  const findings::WallSaving* best = findings::BestWall(finding);
  // With what checks compute, which goes with them.
  const double own_ms = finding.host != nullptr
                            ? findings::IdleMs(analysis, *finding.host) + finding.host->gpu_ms
                            : finding.OwnMs();
  if (best == nullptr || finding.one_off || own_ms <= 0 ||
      findings::AfterOthers(*best).high <= kRounded * own_ms)
    return "";
  // Whether of what is told beside it the upper end alone is longer.
  const findings::Range after = findings::AfterOthers(*best);
  const double first = !Expected(analysis, after).empty() ? after.mid
                       : findings::IsWide(after)          ? after.high
                                                          : after.low;
  const bool upper = first <= own_ms;
  if (finding.host != nullptr) return Say(phrases::impact::kBeyondIdle, {{"upper", upper}});
  if (MovesData(finding)) return Say(phrases::impact::kBeyondCopies, {{"upper", upper}});
  const bool others = std::ranges::any_of(finding.patterns, [](const findings::PatternHit& hit) {
    return std::ranges::find(hit.facts, "also", &findings::Fact::key) != hit.facts.end();
  });
  return Say(others ? phrases::impact::kBeyondOthers : phrases::impact::kBeyondKernels,
             {{"upper", upper}});
}

namespace {

// Of what is mostly an effect of recording: which part of the saving is.
std::string OfRecorder(const findings::Analysis& analysis, const findings::Finding& finding) {
  if (finding.host == nullptr || !finding.host->mostly_recorder()) return "";
  return " " + Say(phrases::impact::kOfRecorder,
                   {{"recorder", EachMs(analysis, finding.host->recorder_ms)}});
}

std::string WallSentence(const findings::Analysis& analysis, const findings::Finding& finding) {
  const findings::WallSaving* best = findings::BestWall(finding);
  if (finding.one_off) {
    const std::string saving = Ms(OnceMs(finding));
    if (finding.rule == findings::Pattern::kAllocatorFlush)
      return Say(phrases::impact::kOnceAgain, {{"saving", saving}});
    return Say(IsPaidOnce(finding) ? phrases::impact::kOnceFirstCalls : phrases::impact::kOnce,
               {{"saving", saving}});
  }
  const std::string why = BeyondText(analysis, finding);
  const std::string beyond = why.empty() ? why : " " + why;
  if (!finding.shows_after.empty()) return LaterText(analysis, finding) + beyond;
  const int count = finding.global_rank - 1;
  const std::string before =
      Say(count == 2 ? phrases::impact::kFirstTwo : phrases::impact::kBefore, {{"count", count}});
  if (count > 0 && LeavesNothing(analysis, finding))
    return Say(phrases::impact::kNothingLeft, {{"before", before}});
  const bool first = count <= 0 || EachRange(analysis, best->ms) == AfterRange(analysis, *best);
  return Say(phrases::impact::kWall,
             {{"saving", AfterText(analysis, *best)}, {"before", first ? std::string() : before}}) +
         OfRecorder(analysis, finding) + beyond;
}

// Of communication on one rank of several: what there is to gain, and what binds then.
std::string BoundSentence(const findings::Analysis& analysis, const findings::Finding& finding) {
  const findings::WallBase& wall = analysis.wall;
  const double bound_ms = BoundOfAction(finding, TakesPathB(finding));
  if (analysis.cpu) return MeasuredBound(analysis, bound_ms);
  const bool host = findings::HostSetsPaceAfter(analysis, bound_ms);
  if (SavesNothingAlone(analysis, bound_ms)) {
    const double most_ms = MostOnceFaster(analysis, finding);
    return Say(host ? phrases::impact::kNothingWhileHostBound : phrases::impact::kNoEstimate,
               {{"saving", EachMs(analysis, most_ms > 0 ? most_ms : finding.exclusive_ms)}});
  }
  const bool balances = findings::BalancesExchange(finding);
  // An action that leaves a part hides nothing.
  const double joint_ms = bound_ms < *finding.bound_ms ? 0 : finding.joint_ms.value_or(0);
  return Say(host && joint_ms > 0 ? phrases::impact::kBoundByHost : phrases::impact::kBound,
             {{"saving", EachMs(analysis, bound_ms)},
              {"share", SavingShare(analysis, bound_ms)},
              {"waiting", balances},
              {"whole", !balances && bound_ms == *finding.bound_ms},
              {"host", EachMs(analysis, wall.host_floor_ms)},
              {"joint", joint_ms > bound_ms ? EachMs(analysis, joint_ms) : std::string()}}) +
         " " + Say(phrases::impact::kWaitingUnknown);
}

// Under which condition the GPU's time goes; empty: none that can be named in a word.
std::string ConditionOf(findings::EstimateMethod method) {
  switch (method) {
    case findings::EstimateMethod::kRoof: return Say(phrases::impact::kIfRoof);
    case findings::EstimateMethod::kMeasured: return Say(phrases::impact::kIfCauseGoes);
    case findings::EstimateMethod::kTraffic: return Say(phrases::impact::kIfOneKernel);
    default: return "";
  }
}

}  // namespace

bool TellsJoint(const findings::Analysis& analysis, const findings::Finding& finding) {
  return finding.bound_ms && finding.joint_ms && *finding.joint_ms > *finding.bound_ms &&
         findings::HostSetsPaceAfter(analysis, *finding.bound_ms);
}

double MostOnceFaster(const findings::Analysis& analysis, const findings::Finding& finding) {
  if (!IsBound(finding) || !SavesNothingAlone(analysis, *finding.bound_ms)) return 0;
  const double most_ms = findings::MostOfExchange(analysis, finding);
  return most_ms < finding.exclusive_ms ? most_ms : 0;
}

bool SavesNothingAlone(const findings::Analysis& analysis, double bound_ms) {
  return !analysis.cpu && bound_ms < findings::limits::kNoBound / 100 * analysis.wall.wall_ms;
}

double BoundOfAction(const findings::Finding& finding, bool path_b) {
  const std::vector<findings::Remedy>& path = path_b ? finding.path_b : finding.path_a;
  return *finding.bound_ms * (path.empty() ? 1 : findings::Info(path.front().advice).most);
}

bool IsBound(const findings::Finding& finding) {
  return finding.bound_ms && !finding.wall_a && !finding.wall_b;
}

std::string ImpactSentence(const findings::Analysis& analysis, const findings::Finding& finding,
                           const findings::Range* additional_ms) {
  if (ShowsLater(finding) && finding.shows_after.empty()) return LaterText(analysis, finding);
  if (finding.wall_a || finding.wall_b) return WallSentence(analysis, finding);
  if (IsBound(finding)) return BoundSentence(analysis, finding);
  if (!finding.savings_ms || finding.method == findings::EstimateMethod::kNone) {
    return Say(phrases::impact::kNoEstimate);
  }
  const bool others = additional_ms != nullptr;
  const bool share =
      !others && finding.impact_percent && finding.OwnSavingsMs().high <= analysis.base.total_ms;
  const std::string condition = ConditionOf(finding.method);
  const bool of_target = finding.method == findings::EstimateMethod::kTarget;
  const auto& change = finding.change_a ? finding.change_a : finding.change_b;
  const std::string target = of_target && change ? TargetText(*change) : std::string();
  return Say(
      phrases::impact::kGpuTime,
      {{"no_fix", !findings::HasAction(finding.path_a) && !findings::HasAction(finding.path_b) &&
                      !finding.rule && finding.by_hand == nullptr},
       {"saving", EachRange(analysis, others ? *additional_ms : finding.OwnSavingsMs())},
       {"others", others},
       {"share", share ? BaseShare(analysis, finding.OwnSavingsMs().high) : std::string()},
       {"unit", analysis.base.unit},
       {"condition", condition},
       {"target", target},
       {"rough", condition.empty() && !of_target}});
}

std::string TargetText(const findings::Change& change) {
  const bool rate = change.target.starts_with("the rate of");
  const bool reached = !change.target.empty() && change.target[0] >= '0' && change.target[0] <= '9';
  return Say(phrases::impact::kTarget, {{"reached", reached},
                                        {"rate", rate},
                                        {"other", !reached && !rate},
                                        {"target", change.target},
                                        {"estimate", change.source.starts_with("estimate")},
                                        {"source", change.source}});
}

std::string PathLine(const findings::Analysis& analysis, const findings::Finding& finding,
                     const FindingText& text, char letter) {
  const std::string& path = letter == 'A' ? text.path_a : text.path_b;
  std::string saves = letter == 'A' ? text.saves_a : text.saves_b;
  if (letter == 'B' && !saves.empty() && saves == text.saves_a) saves = "Saves the same.";
  const findings::WallSaving* best = findings::BestWall(finding);
  const bool chosen = text.chosen == letter;
  // With what it rests on, or the change that was simulated, it is told all the same.
  const bool told = chosen && best != nullptr && finding.by_hand == nullptr &&
                    saves.starts_with("On its own") &&
                    AreAlike(best->ms, findings::AfterOthers(*best));
  // The impact says the same.
  const bool bound = chosen && IsBound(finding) && saves.starts_with("Saves at most");
  if (told || bound || ImpactSentence(analysis, finding, nullptr).starts_with(saves)) saves.clear();
  return (chosen && path == text.action ? "The action above." : path) +
         (saves.empty() ? "" : " " + saves);
}

}  // namespace jarvis::documents
