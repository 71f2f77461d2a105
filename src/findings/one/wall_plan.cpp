#include "findings/one/wall_plan.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "findings/one/analysis.h"
#include "findings/one/thresholds.h"
#include "findings/one/time_scope.h"
#include "findings/one/wall_classes.h"

namespace jarvis::findings {
namespace {

// Operations made so much shorter as their roof, or what is known of them, allows.
std::vector<analysis::Change> ShorterOperations(const Analysis& analysis,
                                                const analysis::Simulation& simulation,
                                                std::span<const std::string> members,
                                                std::optional<double> target) {
  analysis::ScaleGpu scale;
  for (const std::string& member : members) {
    const Operation* operation = analysis.FindOperation(member);
    if (operation == nullptr || operation->gpu_us <= 0) continue;
    double part = 0;  // of its time that goes
    if (target && operation->efficiency.percent) {
      part = std::clamp(1 - *operation->efficiency.percent / *target, 0.0, 1.0);
    } else if (!target && operation->savings_ms) {
      part = std::clamp(operation->savings_ms->mid * 1000 / operation->gpu_us, 0.0, 1.0);
    }
    if (part <= 0) continue;
    scale.events.insert(scale.events.end(), operation->gpu.begin(), operation->gpu.end());
    scale.factors.insert(scale.factors.end(), operation->gpu.size(), 1 - part);
  }
  if (scale.events.empty()) return {};
  const std::vector<analysis::Change> changes = {std::move(scale)};
  return TimeScope(analysis.frames->frames).Of(simulation.recorded(), changes);
}

// A step whose saving alone is asked for here.
std::optional<PlanStep> AskedStep(const Analysis& analysis, const analysis::Simulation& simulation,
                                  std::span<const std::string> members,
                                  std::optional<double> target) {
  PlanStep step;
  step.changes = ShorterOperations(analysis, simulation, members, target);
  if (step.changes.empty()) return std::nullopt;
  const analysis::Outcome outcome = simulation.WhatIf(*analysis.wall.given, step.changes);
  step.cap_ms = std::max(0.0, outcome.gpu_ms + outcome.host_ms);
  const double mid = std::clamp(outcome.saved_ms, 0.0, *step.cap_ms);
  step.alone_ms = {std::clamp(outcome.low_ms, 0.0, mid), mid,
                   std::clamp(outcome.high_ms, mid, std::max(mid, *step.cap_ms))};
  return step;
}

Range Added(const Range& a, const Range& b) {
  return {a.low + b.low, a.mid + b.mid, a.high + b.high};
}

// What only another reading of the trace saves of what a way out saves at its most.
double OfAnotherReading(const Range& alone_ms, double high_part) {
  return std::max(0.0, alone_ms.high - alone_ms.mid * high_part);
}

// The most of an earlier row and what is expected of later ones are more than all of them save at
// their most: the GPU or the host still needs the rest. No less than the largest of them.
void CapTogether(double most_ms, double largest_ms, Range* together_ms) {
  const double least = std::min(std::max(together_ms->mid, largest_ms), together_ms->high);
  together_ms->high = std::clamp(most_ms, least, together_ms->high);
}

// How much GPU time all lists of changes but the first, which is what is given, take away.
double GpuGone(const analysis::GivenChanges& given, const analysis::Simulation& simulation,
               const std::vector<std::vector<analysis::Change>>& lists) {
  std::vector<analysis::Change> every;
  for (std::size_t k = 1; k < lists.size(); ++k)
    every.insert(every.end(), lists[k].begin(), lists[k].end());
  return simulation.Removed(given, every).gpu_ms;
}

// Nor do they save what the unit still needs, but no less than the largest of them, which the
// recording shows.
void HoldToRest(const WallBase& wall, double gpu_gone_ms, double largest_ms, Range* together_ms) {
  const double most = std::max(largest_ms, MostSaved(wall, gpu_gone_ms));
  *together_ms = Within(*together_ms, {most, most, most});
}

// Each row saves at most what the least of those before it leave of all that can be saved.
void HoldRows(double most_ms, std::span<Finding* const> rows) {
  double before_ms = 0;
  for (Finding* row : rows) {
    const double room_ms = std::max(0.0, most_ms - before_ms);
    for (std::optional<WallSaving>* saving : {&row->wall_a, &row->wall_b}) {
      if (*saving && AfterOthers(**saving).high > room_ms) (*saving)->after_most_ms = room_ms;
    }
    before_ms += AfterOthers(*BestWall(*row)).low;
  }
}

}  // namespace

std::vector<analysis::Change> Stronger(std::vector<analysis::Change> changes, double times) {
  for (analysis::Change& change : changes) {
    auto* scale = std::get_if<analysis::ScaleGpu>(&change);
    if (scale == nullptr) continue;
    for (double& factor : scale->factors)
      factor = std::clamp(1 - times * (1 - factor), 0.0, 1.0);
  }
  return changes;
}

double CapOf(const analysis::Simulation& simulation, const analysis::GivenChanges& given,
             const WayOut& way) {
  if (way.cap_ms) return *way.cap_ms;
  const analysis::RemovedTime removed = simulation.Removed(given, way.changes);
  return std::max(0.0, removed.gpu_ms + removed.host_ms);
}

Range AfterOthers(const Range& alone_ms, double after_ms) {
  double after = std::max(0.0, after_ms);
  // What may save nothing may save as much as alone.
  if (alone_ms.mid <= 0) return {0, after, std::max(after, alone_ms.high)};
  // Within the range that it has alone nothing else lets it show.
  const bool hidden = after > limits::kShowsAfter * alone_ms.mid && after > alone_ms.high;
  if (!hidden) after = std::min(after, alone_ms.high);
  const double high = std::min(alone_ms.high, after * alone_ms.high / alone_ms.mid);
  double low = after * std::min(1.0, alone_ms.low / alone_ms.mid);
  if (!hidden) low = std::min(low, alone_ms.low);
  Range told{low, after, std::max(after, high)};
  if (IsWide(told)) told.low = 0;
  return told;
}

Range AfterOthers(const WallSaving& saving) {
  Range after = AfterOthers(saving.ms, saving.after_others_ms);
  if (saving.after_most_ms) after.high = std::clamp(*saving.after_most_ms, after.mid, after.high);
  if (IsWide(after)) after.low = 0;
  return after;
}

namespace {

// What it shows behind may save nothing: then this one saves what it does alone.
bool MayStayHidden(std::span<const Finding> findings, const Finding& finding) {
  if (finding.shows_after.empty()) return false;
  const auto first = std::ranges::find(findings, finding.shows_after, &Finding::id);
  const WallSaving* saving = first == findings.end() ? nullptr : BestWall(*first);
  return saving != nullptr && AfterOthers(*saving).low <= 0;
}

}  // namespace

std::optional<Range> TogetherOf(std::span<const Finding> findings) {
  std::optional<Range> sum;
  for (const Finding& finding : findings) {
    const WallSaving* best = BestWall(finding);
    if (best == nullptr || finding.one_off) continue;
    if (!sum) sum = Range{};
    Range after = AfterOthers(*best);
    if (MayStayHidden(findings, finding)) after.low = std::min(after.low, best->ms.low);
    *sum = Added(*sum, after);
  }
  return sum;
}

std::optional<Range> TogetherOf(const Analysis& analysis) {
  const double unassessed_ms = analysis.UnassessedMs();
  for (const Finding& finding : analysis.findings) {
    const WallSaving* best = BestWall(finding);
    if (best == nullptr || finding.one_off) continue;
    if (unassessed_ms > AfterOthers(*best).high) return std::nullopt;
    break;
  }
  return TogetherOf(std::span<const Finding>(analysis.findings));
}

WallPlan PlanInOrder(const Analysis& analysis, const analysis::Simulation& simulation,
                     std::vector<PlanStep> steps) {
  WallPlan plan;
  std::vector<std::vector<analysis::Change>> lists = {analysis.wall.given->changes};
  for (const PlanStep& step : steps)
    lists.push_back(step.changes);
  plan.after_ms = simulation.SavedInOrder(lists);
  plan.after_ms.erase(plan.after_ms.begin());  // what is given
  for (std::size_t k = 0; k < steps.size(); ++k) {
    if (steps[k].cap_ms) plan.after_ms[k] = std::clamp(plan.after_ms[k], 0.0, *steps[k].cap_ms);
  }
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const Range& alone = steps[k].alone_ms;
    const double after = plan.after_ms[k];
    // What may cost time is told as it comes out.
    plan.together_ms = Added(
        plan.together_ms,
        steps[k].cap_ms ? AfterOthers(alone, after)
                        : Range{std::min(alone.low, after), after, std::max(alone.high, after)});
  }
  plan.steps = std::move(steps);
  return plan;
}

std::optional<PlanStep> PlanStepOf(const Analysis& analysis, const analysis::Simulation& simulation,
                                   const Finding& finding) {
  const WallSaving* best = BestWall(finding);
  if (finding.way == nullptr || best == nullptr) return std::nullopt;
  return PlanStep{
      finding.id, finding.way->changes, best->ms,
      std::min(analysis.wall.wall_ms, CapOf(simulation, *analysis.wall.given, *finding.way)),
      finding.way->high_part};
}

namespace {

// In this order, and no more together than the trace leaves at the most.
WallPlan HeldPlan(const Analysis& analysis, const analysis::Simulation& simulation,
                  std::vector<PlanStep> steps) {
  WallPlan plan = PlanInOrder(analysis, simulation, std::move(steps));
  std::vector<std::vector<analysis::Change>> lists = {analysis.wall.given->changes};
  double other_readings_ms = 0, largest_ms = 0;
  for (const PlanStep& step : plan.steps) {
    lists.push_back(Stronger(step.changes, step.high_part));
    other_readings_ms += OfAnotherReading(step.alone_ms, step.high_part);
  }
  const std::vector<double> most_ms = simulation.SavedInOrder(lists);
  for (std::size_t k = 0; k < plan.steps.size(); ++k) {
    largest_ms = std::max(largest_ms, AfterOthers(plan.steps[k].alone_ms, plan.after_ms[k]).high);
  }
  CapTogether(std::accumulate(most_ms.begin() + 1, most_ms.end(), other_readings_ms), largest_ms,
              &plan.together_ms);
  HoldToRest(analysis.wall, GpuGone(*analysis.wall.given, simulation, lists), largest_ms,
             &plan.together_ms);
  return plan;
}

// All findings that keep every bit. Absent: all do, the others are little of it, or nothing is
// left.
std::optional<Range> ExactTogether(const Analysis& analysis,
                                   const analysis::Simulation& simulation) {
  constexpr double kMuch = 0.1;  // of what all save
  std::vector<PlanStep> steps;
  double inexact_ms = 0;
  for (const Finding& finding : analysis.findings) {
    const WallSaving* best = BestWall(finding);
    if (best == nullptr || finding.one_off) continue;
    if (finding.rule && Info(*finding.rule).inexact) {
      inexact_ms += AfterOthers(*best).mid;
    } else if (auto step = PlanStepOf(analysis, simulation, finding)) {
      steps.push_back(std::move(*step));
    }
  }
  if (inexact_ms < kMuch * analysis.wall.together_ms->mid || steps.empty()) return std::nullopt;
  return Within(HeldPlan(analysis, simulation, std::move(steps)).together_ms,
                *analysis.wall.together_ms);
}

}  // namespace

void TellTogether(const analysis::Simulation& simulation, Analysis* analysis) {
  constexpr double kAsAlone = 0.99;
  std::vector<std::vector<analysis::Change>> lists = {analysis->wall.given->changes};
  std::vector<Finding*> told;
  for (Finding& finding : analysis->findings) {
    if (BestWall(finding) == nullptr || finding.one_off || finding.way == nullptr) continue;
    lists.push_back(Stronger(finding.way->changes, finding.way->high_part));
    told.push_back(&finding);
  }
  const std::vector<double> most_ms = simulation.SavedInOrder(lists);
  for (std::size_t k = 0; k < told.size(); ++k) {
    for (std::optional<WallSaving>* saving : {&told[k]->wall_a, &told[k]->wall_b}) {
      if (!*saving) continue;
      (*saving)->after_most_ms.reset();
      const Range& alone = (*saving)->ms;
      if ((*saving)->after_others_ms >= kAsAlone * alone.mid) continue;  // no other takes any of it
      // What the readings of the trace add to the upper end, alone as after others.
      const double expected_ms = alone.mid * told[k]->way->high_part;
      const double margin = expected_ms > 0 ? std::max(1.0, alone.high / expected_ms) : 1;
      (*saving)->after_most_ms = std::max(0.0, most_ms[k + 1]) * margin;
    }
  }
  const double gpu_ms = GpuGone(*analysis->wall.given, simulation, lists);
  HoldRows(MostSaved(analysis->wall, gpu_ms), told);
  std::optional<Range>& together = analysis->wall.together_ms;
  together = TogetherOf(*analysis);
  if (!together) return;
  double all_ms = std::accumulate(most_ms.begin() + 1, most_ms.end(), 0.0);
  double largest_ms = 0;
  for (const Finding& finding : analysis->findings) {
    const WallSaving* best = BestWall(finding);
    if (best == nullptr || finding.one_off) continue;
    largest_ms = std::max(largest_ms, AfterOthers(*best).high);
    all_ms += finding.way == nullptr ? AfterOthers(*best).high
                                     : OfAnotherReading(best->ms, finding.way->high_part);
  }
  CapTogether(all_ms, largest_ms, &*together);
  HoldToRest(analysis->wall, gpu_ms, largest_ms, &*together);
  analysis->wall.gpu_left_ms = std::max(0.0, analysis->wall.gpu_own_ms - gpu_ms);
  analysis->wall.exact_ms = ExactTogether(*analysis, simulation);
}

Result<WallPlan> AskPlan(const Analysis& analysis, const analysis::Simulation& simulation,
                         std::span<const PlanItem> items) {
  std::vector<PlanStep> steps;
  std::vector<std::string> nothing;
  for (const PlanItem& item : items) {
    JV_TRY(CheckPlanItem(analysis, item));
    const bool twice = std::any_of(steps.begin(), steps.end(),
                                   [&](const PlanStep& step) { return step.name == item.finding; });
    if (twice) continue;
    const Finding* finding = analysis.FindFinding(item.finding);
    std::optional<PlanStep> step;
    if (finding != nullptr && !item.target_percent) {
      step = PlanStepOf(analysis, simulation, *finding);
    } else {
      const std::vector<std::string> alone = {item.finding};
      step = AskedStep(analysis, simulation, finding != nullptr ? finding->members : alone,
                       item.target_percent);
    }
    if (!step) {
      nothing.push_back(item.finding);
      continue;
    }
    step->name = item.finding;
    steps.push_back(std::move(*step));
  }
  WallPlan plan = HeldPlan(analysis, simulation, std::move(steps));
  plan.nothing = std::move(nothing);
  return plan;
}

}  // namespace jarvis::findings
