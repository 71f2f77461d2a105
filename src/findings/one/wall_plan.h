// What several changes save of the wall time, one after the other. Findings are ranked by it, and
// plans that somebody makes of findings are told by it: the same figures, whoever asks.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/simulation/simulation.h"
#include "base/result.h"
#include "findings/one/finding.h"
#include "findings/one/priorities.h"

namespace jarvis::findings {

struct Analysis;

// A way out as the simulation is asked: its middle, and how far its ends are from that.
struct WayOut {
  std::vector<analysis::Change> changes;  // within what the user waits for; see TimeScope
  double low_part = 1;                    // of the middle's GPU time: what is sure
  double high_part = 1;                   // what is possible
  // No saving is larger; absent: the time that the changes take away.
  std::optional<double> cap_ms;
};

// The same changes, each GPU event losing `times` the part that it is expected to, and no more than
// it takes.
std::vector<analysis::Change> Stronger(std::vector<analysis::Change> changes, double times);

// What a way out may save at most once others are made.
double CapOf(const analysis::Simulation& simulation, const analysis::GivenChanges& given,
             const WayOut& way);

// A step of a plan.
struct PlanStep {
  std::string name;  // of a finding, an operation or a change
  std::vector<analysis::Change> changes;
  Range alone_ms;
  // No saving is larger, and none is below 0; absent: whatever comes out, losses too.
  std::optional<double> cap_ms;
  double high_part = 1;  // what is possible of each change: WayOut
};

struct WallPlan {
  std::vector<PlanStep> steps;
  std::vector<double> after_ms;  // a step: beyond those before it, expected
  Range together_ms;
  std::vector<std::string> nothing;  // findings that were asked for and have no saving to add
};

// What a way out saves once others are made, `after_ms` in the middle: as wide as alone, and no
// more than alone unless it hardly shows before them. A range that says nothing but its upper end
// (IsWide) has no lower one.
Range AfterOthers(const Range& alone_ms, double after_ms);
Range AfterOthers(const WallSaving& saving);
// The sum of that over findings that recur; absent: none has a saving.
std::optional<Range> TogetherOf(std::span<const Finding> findings);
// Of all findings of an analysis. Absent, too, where GPU work that could not be assessed takes more
// of the wall time than the first finding saves: the sum would read as all that there is.
std::optional<Range> TogetherOf(const Analysis& analysis);
// Tells an analysis the same, and each finding what is left of its upper end once those before it
// do all that they may (WallSaving::after_most_ms): together no more goes than there is. A pass a
// finding. REQUIRES: the wall time is known.
void TellTogether(const analysis::Simulation& simulation, Analysis* analysis);

// Each step after those before it, and their sum, beyond what is given (WallBase::given). The
// analysis knows its wall time.
WallPlan PlanInOrder(const Analysis& analysis, const analysis::Simulation& simulation,
                     std::vector<PlanStep> steps);

// A finding as a step: alone it saves what it says it does. Absent: it has no saving that adds to
// others (it happens once, or nobody knows what it would save).
std::optional<PlanStep> PlanStepOf(const Analysis& analysis, const analysis::Simulation& simulation,
                                   const Finding& finding);

// Findings and operations, some at a target of their roof, in this order. Errors: kBadValue for
// unknown ids and targets outside (0, 100].
Result<WallPlan> AskPlan(const Analysis& analysis, const analysis::Simulation& simulation,
                         std::span<const PlanItem> items);

}  // namespace jarvis::findings
