// Conditions that runs must not meet when they are held against others: a gate for CI.
//
// Times are of the base of each run's ledger, as the headline is: of one unit. With several runs of
// a side its value is their mean, and a limit on a change counts as passed only if the change
// passes it by more than the noise: the half width of the 95 % interval of the difference of the
// means (Welch's; where one side has one run, the other's spread stands for both).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/job.h"
#include "findings/two/compare_traces.h"
#include "findings/two/gate_condition.h"

namespace jarvis::findings {

using TraceRuns = std::vector<std::shared_ptr<const session::LoadedTrace>>;

struct GateInput {
  TraceRuns baseline;                      // the comparison and further runs of it; at least one
  TraceRuns runs;                          // the primary and further runs of it
  std::optional<perf::Platform> platform;  // of the primary
  std::optional<perf::Platform> comparison_platform;
};

struct GateRow {
  std::string condition;
  std::string name;  // of the row; empty: of the whole run
  // Means over the runs; absent: not in any of them.
  std::optional<double> baseline;
  std::optional<double> value;
  std::optional<double> change_percent;  // absent without a baseline
  std::optional<double> noise_percent;   // absent: one run of each
  bool broken = false;
};

struct GateResult {
  std::vector<GateRow> rows;  // of broken conditions those that broke them; of others the nearest
  std::size_t broken = 0;     // conditions
  // What grew most, of the first run of each: rows that explain a broken condition of the whole.
  std::vector<CompareRow> grown;
  std::string refusal;  // the runs cannot be compared, so nothing passes; empty: they can
};

// Errors: kBadValue for a row that no run has.
Result<GateResult> JudgeGate(const GateInput& input, const std::vector<GateCondition>& conditions,
                             Job& job);

// As lines for a person.
std::string GateText(const GateResult& result);

}  // namespace jarvis::findings
