#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "findings/one/time_scope.h"
#include "findings/one/wall_base.h"
#include "findings/one/wall_plan.h"
#include "output/number_format.h"
#include "session/trace_frames.h"
#include "session/trace_simulation.h"
#include "tools/shared/arguments.h"
#include "tools/shared/category_choice.h"
#include "tools/shared/change_arguments.h"
#include "tools/shared/platform_choice.h"
#include "tools/trace/simulation_facts.h"
#include "tools/trace/trace_tools.h"

namespace jarvis::tools {
namespace {

using analysis::Outcome;
using output::Rounded;

void AddOutcome(const Outcome& outcome, Json* facts) {
  (*facts)["after_ms"] = Rounded(outcome.after_ms);
  (*facts)["saved_ms"] = Rounded(outcome.saved_ms);
  (*facts)["saved_low_ms"] = Rounded(outcome.low_ms);
  (*facts)["saved_high_ms"] = Rounded(outcome.high_ms);
  (*facts)["gpu_ms_removed"] = Rounded(outcome.gpu_ms);
  if (outcome.this_rank_ms)
    (*facts)["saved_on_this_rank_alone_ms"] = Rounded(*outcome.this_rank_ms);
}

std::string HeadlineOf(const Outcome& all, const std::string& range_only) {
  if (!range_only.empty()) {
    return fmt::format("The changes save {} to {} of {} ms of wall time.", Rounded(all.low_ms),
                       Rounded(all.high_ms), Rounded(all.before_ms));
  }
  return fmt::format("{} ms of wall time become {}: the changes save {} ms ({} to {}).",
                     Rounded(all.before_ms), Rounded(all.after_ms), Rounded(all.saved_ms),
                     Rounded(all.low_ms), Rounded(all.high_ms));
}

// What saves next to nothing by itself, and does once those before it are made.
void NoteIfHidden(const std::string& change, const Outcome& alone, double after_ms,
                  Answer* answer) {
  if (after_ms <= 0.005 * alone.before_ms || after_ms <= 2 * alone.saved_ms) return;
  answer->notes.push_back(
      fmt::format("\"{}\" shows only after those before it: {} ms alone, {} ms then",
                  OneLine(change), Rounded(alone.saved_ms), Rounded(after_ms)));
}

void ExplainRange(const Outcome& all, Answer* answer) {
  if (all.lowest != analysis::Reading::kOurs) {
    answer->notes.push_back(fmt::format("lowest if {}", ReadingText(all.lowest)));
  }
  if (all.highest != analysis::Reading::kOurs) {
    answer->notes.push_back(fmt::format("highest if {}", ReadingText(all.highest)));
  }
}

// A change beside findings: of what savings of findings are of, beyond what these leave out.
findings::PlanStep StepBeside(const findings::Analysis& analysis,
                              const analysis::Simulation& simulation, const NamedChange& change) {
  findings::PlanStep step;
  step.name = change.text;
  step.changes =
      findings::TimeScope(analysis.frames->frames).Of(simulation.recorded(), change.changes);
  const Outcome alone = simulation.WhatIf(*analysis.wall.given, step.changes);
  step.alone_ms = {alone.low_ms, alone.saved_ms, alone.high_ms};
  return step;
}

// Findings, and what stands between them: the figures that prioritize and the reports give.
void ShowFindings(const findings::Analysis& analysis, const analysis::Simulation& simulation,
                  std::span<const NamedChange> changes, Answer* answer) {
  std::vector<findings::PlanStep> steps;
  for (const NamedChange& change : changes) {
    steps.push_back(change.finding ? *change.finding : StepBeside(analysis, simulation, change));
    if (!change.note.empty()) answer->notes.push_back(change.note);
  }
  const findings::WallPlan plan = findings::PlanInOrder(analysis, simulation, std::move(steps));
  const findings::WallBase& wall = analysis.wall;
  Outcome all;
  all.before_ms = wall.wall_ms;
  all.saved_ms = plan.together_ms.mid;
  all.low_ms = plan.together_ms.low;
  all.high_ms = plan.together_ms.high;
  all.after_ms = wall.wall_ms - all.saved_ms;
  answer->facts["of_ms"] = Rounded(wall.wall_ms);
  AddOutcome(all, &answer->facts);
  answer->facts.erase("gpu_ms_removed");
  if (!wall.range_only.empty()) answer->facts["range_only"] = wall.range_only;
  answer->summary = HeadlineOf(all, wall.range_only);
  if (wall.recorded_ms > wall.wall_ms) {
    answer->notes.push_back(fmt::format(
        "of {} ms recorded, savings of findings are of {} ms: without odd steps, first calls, the "
        "profiler's pauses and work launched before the recording",
        Rounded(wall.recorded_ms), Rounded(wall.wall_ms)));
  }
  for (std::size_t k = 0; k < changes.size(); ++k) {
    const findings::Range& alone = plan.steps[k].alone_ms;
    answer->rows.push_back(
        {OneLine(changes[k].text), alone.mid, alone.low, alone.high, plan.after_ms[k]});
  }
  answer->total = changes.size();
}

// What the same changes save of the time that savings of findings are of, where the recording has
// much else in it, which may hide them.
void ShowOfSteps(const findings::WallBase& wall, const analysis::TimeFrames& frames,
                 const analysis::Simulation& simulation, std::span<const analysis::Change> changes,
                 Answer* answer) {
  constexpr double kMuchElse = 1.02;
  if (!wall.known || wall.given == nullptr || wall.recorded_ms < kMuchElse * wall.wall_ms) return;
  const auto within = findings::TimeScope(frames).Of(simulation.recorded(), changes);
  if (within.empty()) return;
  const Outcome outcome = simulation.WhatIf(*wall.given, within);
  answer->facts["of_steps_ms"] = Rounded(wall.wall_ms);
  answer->facts["saved_of_steps_ms"] = Rounded(outcome.saved_ms);
  answer->notes.push_back(fmt::format(
      "that is of the whole recording. Of {} ms without odd steps, first calls, the profiler's "
      "pauses and earlier work, as savings of findings are told, it saves {} ms ({} to {})",
      Rounded(wall.wall_ms), Rounded(outcome.saved_ms), Rounded(outcome.low_ms),
      Rounded(outcome.high_ms)));
}

}  // namespace

Result<Answer> WhatIf(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const TracePtr trace, OpenTrace(workspace, arguments, job));
  JV_ASSIGN(const auto simulation, session::SimulationOf(*trace, job));
  Answer answer;
  answer.trace = trace->id();
  if (simulation->empty()) {
    ExplainNothingToSimulate(*trace, &answer);
    return answer;
  }
  JV_ASSIGN(const std::vector<NamedChange> changes,
            ReadChanges(workspace, *trace, *simulation, arguments, job));
  answer.facts = SimulationFacts(*simulation);
  answer.notes = SimulationNotes(*simulation);
  const analysis::SimulationQuality& quality = simulation->quality();
  if (!quality.refusal.empty()) {
    answer.facts["refused"] = quality.refusal;
    answer.summary = fmt::format(
        "No wall time is told: {}. What is left: at least {} ms of host, at least {} ms of GPU.",
        quality.refusal, Rounded(simulation->host_floor_ms()), Rounded(simulation->gpu_floor_ms()));
    return answer;
  }
  answer.columns = {"change", "alone_ms", "low_ms", "high_ms", "after_those_before_ms"};
  const bool of_findings = std::any_of(changes.begin(), changes.end(), [](const NamedChange& one) {
    return one.finding.has_value();
  });
  if (of_findings) {
    JV_ASSIGN(const AnalysisCase one, AnalyzeTrace(workspace, arguments, job));
    ShowFindings(*one.analysis, *simulation, changes, &answer);
    return answer;
  }
  std::vector<std::vector<analysis::Change>> lists;
  std::vector<analysis::Change> together;
  for (const NamedChange& change : changes) {
    lists.push_back(change.changes);
    together.insert(together.end(), change.changes.begin(), change.changes.end());
    if (!change.note.empty()) answer.notes.push_back(change.note);
  }
  const Outcome all = simulation->WhatIf(together);
  AddOutcome(all, &answer.facts);
  if (!quality.range_only.empty()) answer.facts["range_only"] = quality.range_only;
  answer.summary = HeadlineOf(all, quality.range_only);
  const std::vector<double> in_order_ms = simulation->SavedInOrder(lists);
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Outcome alone = simulation->WhatIf(lists[i]);
    answer.rows.push_back(
        {OneLine(changes[i].text), alone.saved_ms, alone.low_ms, alone.high_ms, in_order_ms[i]});
    if (i > 0) NoteIfHidden(changes[i].text, alone, in_order_ms[i], &answer);
  }
  answer.total = changes.size();
  ExplainRange(all, &answer);
  // What savings are of is known without the findings, whatever GPU they are measured against.
  JV_TRY(ChoosePlatform(workspace.files(), TextArgument(arguments, "platform").value_or(""),
                        trace.get()));
  JV_ASSIGN(const auto ground, findings::WallGroundOf(*trace, job));
  JV_ASSIGN(const auto frames, session::FramesOf(*trace, job));
  ShowOfSteps(ground->wall, frames->frames, *simulation, together, &answer);
  return answer;
}

}  // namespace jarvis::tools
