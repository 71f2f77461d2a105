// What a comparison of sweeps holds against each other: their configurations by label, whether they
// ran the same work, and when a change counts.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sweep/draw/page.h"
#include "sweep/judge/compare_sweeps.h"
#include "sweep/judge/spread.h"
#include "sweep/measure/facts.h"

namespace jarvis::sweep {

using RankValues = std::vector<double>;  // one per rank
double RankMean(const RankValues& values);

struct ComparedSweeps {
  const std::vector<SweepFacts>& sweeps;
  const CompareOptions& options;
  std::vector<bool> other_work = {};     // by sweep: not the baseline's
  std::vector<std::string> order = {};   // configurations of all sweeps, by first sight
  std::vector<std::string> common = {};  // those that all have
  std::map<std::string, std::map<std::size_t, const ConfigFacts*>> places = {};

  // Null: the sweep does not have the configuration.
  const ConfigFacts* At(const std::string& config, std::size_t sweep) const;
  // The configurations that are compared: those that all sweeps have; all of each if they share
  // none.
  std::vector<const ConfigFacts*> Compared(std::size_t sweep) const;
};
// Both must outlive the result.
ComparedSweeps ArrangeSweeps(const std::vector<SweepFacts>& sweeps, const CompareOptions& options);

// Of a change in percent, of which less is better; absent: it is not known.
PageVerdict VerdictOf(const std::optional<Change>& change, double threshold_pct);
std::string WhyOf(const std::optional<Change>& change);

}  // namespace jarvis::sweep
