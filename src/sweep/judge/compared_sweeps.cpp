#include "sweep/judge/compared_sweeps.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "analysis/attribution/stats.h"
#include "sweep/judge/plot_data.h"

namespace jarvis::sweep {
namespace {

// GEMM launches of the ranks that have fewest and most: of the same job they are nearly alike.
std::pair<std::size_t, std::size_t> LaunchesOf(const SweepFacts& facts) {
  std::pair<std::size_t, std::size_t> range = {SIZE_MAX, 0};
  for (const ConfigFacts& config : facts.configs) {
    for (const RankFacts& rank : config.ranks) {
      std::size_t launches = 0;
      for (const GemmKernel& gemm : rank.gemms)
        launches += gemm.instances.size();
      launches /= std::max<std::size_t>(1, rank.steps);
      range = {std::min(range.first, launches), std::max(range.second, launches)};
    }
  }
  return range;
}

bool WorkDiffers(const SweepFacts& base, const SweepFacts& test) {
  constexpr double kAlike = 1.1;
  const auto [base_least, base_most] = LaunchesOf(base);
  const auto [test_least, test_most] = LaunchesOf(test);
  return static_cast<double>(test_least) > kAlike * static_cast<double>(base_most) ||
         static_cast<double>(base_least) > kAlike * static_cast<double>(test_most);
}

}  // namespace

double RankMean(const RankValues& values) {
  return analysis::PairwiseSum(values) / static_cast<double>(values.size());
}

const ConfigFacts* ComparedSweeps::At(const std::string& config, std::size_t sweep) const {
  const auto& of_sweeps = places.at(config);
  const auto found = of_sweeps.find(sweep);
  return found == of_sweeps.end() ? nullptr : found->second;
}

std::vector<const ConfigFacts*> ComparedSweeps::Compared(std::size_t sweep) const {
  std::vector<const ConfigFacts*> list;
  for (const std::string& text : common.empty() ? order : common) {
    if (const ConfigFacts* config = At(text, sweep)) list.push_back(config);
  }
  return list;
}

ComparedSweeps ArrangeSweeps(const std::vector<SweepFacts>& sweeps, const CompareOptions& options) {
  ComparedSweeps made{sweeps, options};
  for (const SweepFacts& one : sweeps)
    made.other_work.push_back(WorkDiffers(sweeps[options.baseline], one));
  for (std::size_t s = 0; s < sweeps.size(); ++s) {
    for (std::size_t c = 0; c < sweeps[s].configs.size(); ++c) {
      if (sweeps[s].configs[c].ranks.empty()) continue;
      const std::string text = ConfigText(sweeps[s].sweep, sweeps[s].sweep.configs[c]);
      const auto [found, added] = made.places.try_emplace(text);
      if (added) made.order.push_back(text);
      found->second[s] = &sweeps[s].configs[c];
    }
  }
  for (const std::string& text : made.order) {
    if (made.places.at(text).size() == sweeps.size()) made.common.push_back(text);
  }
  return made;
}

PageVerdict VerdictOf(const std::optional<Change>& change, double threshold_pct) {
  if (!change) return PageVerdict::kUnknown;
  if (!change->significant || std::abs(change->percent) < threshold_pct) return PageVerdict::kNoise;
  return change->percent < 0 ? PageVerdict::kBetter : PageVerdict::kWorse;
}

std::string WhyOf(const std::optional<Change>& change) {
  if (!change) return "too few values to tell noise";
  return fmt::format("95 % interval {:+.2f} to {:+.2f} %", change->low, change->high);
}

}  // namespace jarvis::sweep
