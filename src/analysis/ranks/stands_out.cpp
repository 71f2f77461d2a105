#include "analysis/ranks/stands_out.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/median.h"

namespace jarvis::analysis {
namespace {

// A rank stands out if chance alone would hardly make it so, or it costs so many times what all
// others do.
constexpr double kStandsOutChance = 0.05;
constexpr double kStandsOutTimes = 4;

}  // namespace

double ChanceOfLast(std::size_t times, std::size_t of, std::size_t ranks) {
  const double one = 1 / static_cast<double>(ranks);
  const auto n = static_cast<double>(of);
  double sum = 0;
  for (std::size_t i = times; i <= of; ++i) {
    const auto k = static_cast<double>(i);
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) +
                    k * std::log(one) + (n - k) * std::log1p(-one));
  }
  return std::min(1.0, sum);
}

std::vector<std::size_t> StandingOut(const std::vector<Cost>& costs, double least) {
  std::size_t times = 0;
  double all = 0;
  for (const Cost& of : costs) {
    times += of.times;
    all += static_cast<double>(of.ns);
  }
  std::vector<std::size_t> found;
  for (std::size_t rank = 0; rank < costs.size() && costs.size() > 1; ++rank) {
    std::vector<std::int64_t> others;
    for (std::size_t other = 0; other < costs.size(); ++other) {
      if (other != rank) others.push_back(costs[other].ns);
    }
    const auto own = static_cast<double>(costs[rank].ns);
    if (own - static_cast<double>(MedianOfTimes(std::move(others))) < least) continue;
    const double chance =
        ChanceOfLast(costs[rank].times, times, costs.size()) * static_cast<double>(costs.size());
    if (chance < kStandsOutChance || own >= kStandsOutTimes * (all - own)) found.push_back(rank);
  }
  return found.size() < costs.size() ? found : std::vector<std::size_t>();
}

}  // namespace jarvis::analysis
