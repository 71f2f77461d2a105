// What to do first, and what doing several things together may save: each kernel once, never more
// than the time there is.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "findings/one/finding.h"

namespace jarvis::findings {

struct Analysis;

// One row per category for the overview: all categories, also those with nothing to fix.
struct CategoryPriority {
  int rank = 0;
  std::string category;
  std::string display_name;
  double gpu_ms = 0;
  std::optional<double> percent_of_computation;
  std::uint64_t operations = 0;         // calls
  std::optional<Range> impact_percent;  // roll-up of its quantified findings; absent: none
  std::string source;                   // "findings_rollup", "no_finding"
  std::string why_not;  // of "no_finding": "near_roof", "no_model", "no_platform", ...
};

std::vector<CategoryPriority> CategoryPriorities(const Analysis& analysis);

// Analysis::nothing_because.
std::vector<std::string> WhyNothing(const Analysis& analysis);

// Savings of several findings done together.
struct Combined {
  Range savings_ms;
  double own_part = 1;                // of these, in the steps that shares are of
  Range new_total_ms;                 // the window after
  std::optional<Range> percent;       // of the window
  double sum_of_parts_ms = 0;         // mid savings added up, for comparison
  double cap_ms = 0;                  // what binds: busy, idle and exposed time that is addressed
  std::vector<std::string> findings;  // ids that count
  bool capped = false;                // overlaps or limits took something off

  double OwnMostMs() const { return savings_ms.high * own_part; }
};

// Of a plan: some findings, each at a target. Errors: kBadValue for unknown ids or targets outside
// (0, 100].
struct PlanItem {
  std::string finding;                   // "f3", or an Operation id "gemm.1"
  std::optional<double> target_percent;  // of the roof; absent: the finding's own range
};
// Whether the finding or operation exists, and the target is one.
jarvis::Status CheckPlanItem(const Analysis& analysis, const PlanItem& item);
// In GPU time, for recordings whose wall time nobody can simulate; else see wall_plan.h.
Result<Combined> WhatIf(const Analysis& analysis, std::span<const PlanItem> plan);

// Of all findings.
Combined CombinedOf(const Analysis& analysis);

// The users' impact table: what an op at so much of its peak would take.
struct Projection {
  double target_percent;
  double new_ms;
  double saved_ms;
  std::optional<double> percent_of_total;
};
// Targets 20, 50, 70, 80, 90 above the present efficiency; empty without one.
std::vector<Projection> ProjectionsOf(const Finding& finding, double window_ms);

}  // namespace jarvis::findings
