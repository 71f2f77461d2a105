#include "sweep/judge/spread.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "analysis/attribution/stats.h"
#include "output/chart_stats.h"

namespace jarvis::sweep {
namespace {

constexpr std::size_t kResamples = 2000;

// SplitMix64: the same numbers on every machine.
class Random {
 public:
  // Below n; n is small.
  std::size_t Below(std::size_t n) {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return static_cast<std::size_t>((z ^ (z >> 31)) % n);
  }

 private:
  std::uint64_t state_ = 20251121;
};

double Mean(std::span<const double> values) {
  return analysis::PairwiseSum(values) / static_cast<double>(values.size());
}

// The squared standard error of the mean.
double ErrorSquared(std::span<const double> values) {
  const double deviation = analysis::GroupMoments(values).std.value_or(0);
  return deviation * deviation / static_cast<double>(values.size());
}

double ResampledMean(std::span<const double> values, Random* random) {
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    sum += values[random->Below(values.size())];
  return sum / static_cast<double>(values.size());
}

}  // namespace

Spread SpreadOf(std::span<const double> values) {
  const analysis::Moments moments = analysis::GroupMoments(values);
  Spread spread{moments.mean, moments.median, moments.min, moments.max, moments.std, {}, 0, 0, 0};
  if (moments.std && moments.mean != 0) spread.cv = *moments.std / moments.mean;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  spread.iqr = output::Quantile(sorted, 0.75) - output::Quantile(sorted, 0.25);
  spread.p95 = output::Quantile(sorted, 0.95);
  for (double& value : sorted)
    value = std::abs(value - spread.median);
  spread.mad = analysis::Median(std::move(sorted));
  return spread;
}

std::optional<Change> ChangeOf(std::span<const double> a, std::span<const double> b) {
  if (a.size() < 2 || b.size() < 2 || Mean(a) == 0) return std::nullopt;
  Change change;
  change.percent = 100 * (Mean(b) / Mean(a) - 1);
  if (a.size() + b.size() > kResampledMax) {
    constexpr double kWithin95 = 1.959964;
    const double error = std::sqrt(ErrorSquared(a) + ErrorSquared(b));
    const double half = std::abs(100 * kWithin95 * error / Mean(a));
    change.low = change.percent - half;
    change.high = change.percent + half;
    change.significant = change.low > 0 || change.high < 0;
    return change;
  }
  Random random;
  std::vector<double> resampled;
  for (std::size_t i = 0; i < kResamples; ++i) {
    const double base = ResampledMean(a, &random);
    const double other = ResampledMean(b, &random);
    if (base != 0) resampled.push_back(100 * (other / base - 1));
  }
  if (resampled.empty()) return std::nullopt;
  std::sort(resampled.begin(), resampled.end());
  change.low = output::Quantile(resampled, 0.025);
  change.high = output::Quantile(resampled, 0.975);
  change.significant = change.low > 0 || change.high < 0;
  return change;
}

}  // namespace jarvis::sweep
