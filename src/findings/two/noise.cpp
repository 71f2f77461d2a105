#include "findings/two/noise.h"

#include <cmath>
#include <numeric>
#include <utility>

namespace jarvis::findings {
namespace {

// Half the width of the 95 % interval in standard errors (Student's t), by degrees of freedom.
double StudentT(double freedom) {
  static constexpr std::pair<double, double> kTable[] = {
      {1, 12.706}, {2, 4.303}, {3, 3.182},  {4, 2.776},  {5, 2.571},  {6, 2.447},  {7, 2.365},
      {8, 2.306},  {9, 2.262}, {10, 2.228}, {12, 2.179}, {15, 2.131}, {20, 2.086}, {30, 2.042}};
  double t = kTable[0].second;
  for (const auto& [least, value] : kTable) {
    if (freedom >= least) t = value;
  }
  return t;
}

}  // namespace

Sample SampleOf(std::span<const double> values) {
  Sample sample;
  sample.count = values.size();
  if (values.empty()) return sample;
  sample.mean =
      std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  if (values.size() < 2) return sample;
  double sum = 0;
  for (const double value : values)
    sum += (value - sample.mean) * (value - sample.mean);
  sample.deviation = std::sqrt(sum / static_cast<double>(values.size() - 1));
  return sample;
}

std::optional<double> NoiseOf(const Sample& a, const Sample& b) {
  const auto count_a = static_cast<double>(a.count);
  const auto count_b = static_cast<double>(b.count);
  if (a.count == 0 || b.count == 0 || (a.count < 2 && b.count < 2)) return std::nullopt;
  if (a.count < 2 || b.count < 2) {
    const Sample& several = a.count < 2 ? b : a;
    return StudentT(static_cast<double>(several.count - 1)) *
           std::sqrt(several.variance() * (1 / count_a + 1 / count_b));
  }
  const double part_a = a.variance() / count_a;
  const double part_b = b.variance() / count_b;
  if (!(part_a + part_b > 0)) return 0.0;
  const double freedom = (part_a + part_b) * (part_a + part_b) /
                         (part_a * part_a / (count_a - 1) + part_b * part_b / (count_b - 1));
  return StudentT(freedom) * std::sqrt(part_a + part_b);
}

}  // namespace jarvis::findings
