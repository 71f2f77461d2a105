#include "analysis/ranks/fleet_stats.h"

#include <algorithm>
#include <cmath>

namespace jarvis::analysis {
namespace {

// Of a normal distribution.
constexpr double kSigmaOfMad = 1.4826;
// Beyond this many values the normal distribution is as good as the binomial one.
constexpr std::size_t kExactSignsMax = 500;

}  // namespace

double FleetMedian(std::vector<double> values) {
  const std::size_t half = values.size() / 2;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(half);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

FleetSpread SpreadOf(const std::vector<double>& values, double floor) {
  FleetSpread spread;
  spread.median = FleetMedian(values);
  std::vector<double> away;
  away.reserve(values.size());
  for (const double value : values)
    away.push_back(std::abs(value - spread.median));
  spread.sigma = std::max(floor, kSigmaOfMad * FleetMedian(std::move(away)));
  return spread;
}

double FleetSigns::Chance() const {
  const std::size_t n = count();
  if (n > kExactSignsMax) {
    const double mean = static_cast<double>(n) / 2;
    const double deviation = std::sqrt(static_cast<double>(n)) / 2;
    return std::erfc((static_cast<double>(above) - 0.5 - mean) / deviation / std::sqrt(2.0)) / 2;
  }
  // From all above downwards, each term from the one before.
  double term = std::ldexp(1.0, -static_cast<int>(n));
  double sum = 0;
  for (std::size_t i = n;; --i) {
    sum += term;
    if (i <= above) break;
    term *= static_cast<double>(i) / static_cast<double>(n - i + 1);
  }
  return std::min(1.0, sum);
}

}  // namespace jarvis::analysis
