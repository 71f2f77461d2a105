#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text.h"
#include "output/number_format.h"
#include "session/trace_simulation.h"
#include "tools/shared/arguments.h"
#include "tools/trace/change_arguments.h"
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

}  // namespace

Result<Answer> WhatIf(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const TracePtr trace, OpenTrace(workspace, arguments, job));
  JV_ASSIGN(const auto simulation, session::SimulationOf(*trace, job));
  Answer answer;
  answer.trace = trace->id();
  if (simulation->empty()) {
    ExplainNothingToSimulate(&answer);
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
  answer.columns = {"change", "alone_ms", "low_ms", "high_ms", "after_those_before_ms"};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Outcome alone = simulation->WhatIf(lists[i]);
    answer.rows.push_back(
        {OneLine(changes[i].text), alone.saved_ms, alone.low_ms, alone.high_ms, in_order_ms[i]});
    if (i > 0) NoteIfHidden(changes[i].text, alone, in_order_ms[i], &answer);
  }
  answer.total = changes.size();
  ExplainRange(all, &answer);
  return answer;
}

}  // namespace jarvis::tools
