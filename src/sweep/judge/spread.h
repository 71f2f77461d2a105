// How a set of times spreads, and whether two sets differ by more than noise.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace jarvis::sweep {

// Of a set that is not empty. Quantiles by linear interpolation between order statistics.
struct Spread {
  double mean = 0, median = 0, min = 0, max = 0;
  std::optional<double> std;  // n - 1; absent for one value
  std::optional<double> cv;   // std / mean; absent for one value and a mean of 0
  double iqr = 0;             // 3rd quartile - 1st
  double p95 = 0;
  double mad = 0;  // median of |x - median|
};
Spread SpreadOf(std::span<const double> values);

// The mean of b over the mean of a, as a change in percent of a, with the interval that holds 95 %
// of 2,000 resamplings of both sets (Efron's percentile bootstrap, from a fixed seed: the same sets
// give the same interval); of more than kResampledMax values that of Welch's normal approximation,
// which is the same there. `significant`: 0 is outside the interval. Absent with fewer than two
// values in either set, or a mean of 0.
inline constexpr std::size_t kResampledMax = 1000;  // of both sets together
struct Change {
  double percent = 0;
  double low = 0, high = 0;
  bool significant = false;
};
std::optional<Change> ChangeOf(std::span<const double> a, std::span<const double> b);

}  // namespace jarvis::sweep
