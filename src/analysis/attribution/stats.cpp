#include "analysis/attribution/stats.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace jarvis::analysis {

double KahanSum(std::span<const double> values) {
  double sum = 0;
  double compensation = 0;
  for (const double value : values) {
    const double y = value - compensation;
    const double t = sum + y;
    compensation = (t - sum) - y;
    sum = t;
  }
  return sum;
}

double PairwiseSum(std::span<const double> values) {
  const std::size_t n = values.size();
  if (n < 8) {
    double sum = 0;
    for (const double value : values)
      sum += value;
    return sum;
  }
  if (n <= 128) {
    double r[8];
    std::copy_n(values.begin(), 8, r);
    std::size_t i = 8;
    for (; i + 8 <= n; i += 8) {
      for (std::size_t k = 0; k < 8; ++k)
        r[k] += values[i + k];
    }
    double sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    for (; i < n; ++i)
      sum += values[i];
    return sum;
  }
  const std::size_t half = n / 2 - (n / 2) % 8;
  return PairwiseSum(values.first(half)) + PairwiseSum(values.subspan(half));
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

Moments GroupMoments(std::span<const double> values) {
  JV_CHECK(!values.empty());
  const auto n = static_cast<double>(values.size());
  Moments m{};
  m.sum = KahanSum(values);
  m.mean = m.sum / n;
  m.median = Median({values.begin(), values.end()});
  m.min = *std::min_element(values.begin(), values.end());
  m.max = *std::max_element(values.begin(), values.end());
  if (values.size() > 1) {  // Welford
    double mean = 0;
    double squares = 0;
    double count = 0;
    for (const double value : values) {
      count += 1;
      const double delta = value - mean;
      mean += delta / count;
      squares += (value - mean) * delta;
    }
    m.std = std::sqrt(squares / (n - 1));
  }
  return m;
}

double PopulationStd(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double mean = PairwiseSum(values) / n;
  std::vector<double> squares;
  squares.reserve(values.size());
  for (const double value : values)
    squares.push_back((value - mean) * (value - mean));
  return std::sqrt(PairwiseSum(squares) / n);
}

}  // namespace jarvis::analysis
