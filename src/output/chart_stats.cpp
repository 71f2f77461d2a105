#include "output/chart_stats.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace jarvis::output {
namespace {

std::vector<double> SortedFinite(std::span<const double> values) {
  std::vector<double> sorted;
  std::copy_if(values.begin(), values.end(), std::back_inserter(sorted),
               [](double value) { return std::isfinite(value); });
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

double MeanOf(std::span<const double> values) {
  double sum = 0;
  for (const double value : values)
    sum += value / static_cast<double>(values.size());
  return sum;
}

}  // namespace

double Quantile(std::span<const double> sorted, double share) {
  JV_CHECK(!sorted.empty());
  JV_DCHECK(std::is_sorted(sorted.begin(), sorted.end()));
  const double at = std::clamp(share, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (sorted[above] - sorted[below]) * (at - static_cast<double>(below));
}

std::optional<BoxFigures> BoxOf(std::span<const double> values) {
  const std::vector<double> sorted = SortedFinite(values);
  if (sorted.empty()) return std::nullopt;
  constexpr double kReach = 1.5;
  BoxFigures box;
  box.count = sorted.size();
  box.first_quartile = Quantile(sorted, 0.25);
  box.median = Quantile(sorted, 0.5);
  box.third_quartile = Quantile(sorted, 0.75);
  box.mean = MeanOf(sorted);
  box.low = sorted.front();
  box.high = sorted.back();
  const double reach = kReach * (box.third_quartile - box.first_quartile);
  // A whisker ends at the box where no value lies between box and reach.
  box.low_whisker = box.first_quartile;
  box.high_whisker = box.third_quartile;
  for (const double value : sorted) {
    if (value < box.first_quartile - reach || value > box.third_quartile + reach) {
      box.outliers.push_back(value);
    } else {
      box.low_whisker = std::min(box.low_whisker, value);
      box.high_whisker = std::max(box.high_whisker, value);
    }
  }
  return box;
}

std::vector<SvgPoint> DensityOf(std::span<const double> values) {
  const std::vector<double> sorted = SortedFinite(values);
  if (sorted.size() < 2 || !(sorted.back() > sorted.front())) return {};
  constexpr std::size_t kPoints = 100;
  constexpr double kReach = 8;  // deviations beyond which a value adds nothing
  const auto count = static_cast<double>(sorted.size());
  const double mean = MeanOf(sorted);
  double squares = 0;
  for (const double value : sorted)
    squares += (value - mean) * (value - mean);
  const double width = std::sqrt(squares / (count - 1)) * std::pow(count, -0.2);
  std::vector<SvgPoint> density;
  double most = 0;
  for (std::size_t i = 0; i < kPoints; ++i) {
    const double at = sorted.front() + (sorted.back() - sorted.front()) * static_cast<double>(i) /
                                           static_cast<double>(kPoints - 1);
    const auto first = std::lower_bound(sorted.begin(), sorted.end(), at - kReach * width);
    const auto last = std::upper_bound(first, sorted.end(), at + kReach * width);
    double sum = 0;
    for (auto value = first; value != last; ++value) {
      const double distance = (at - *value) / width;
      sum += std::exp(-0.5 * distance * distance);
    }
    most = std::max(most, sum);
    density.emplace_back(at, sum);
  }
  if (!(most > 0)) return {};
  for (SvgPoint& point : density)
    point.second /= most;
  return density;
}

std::optional<FitLine> FitOf(std::span<const SvgPoint> points) {
  double count = 0, mean_x = 0, mean_y = 0;
  const auto finite = [](const SvgPoint& point) {
    return std::isfinite(point.first) && std::isfinite(point.second);
  };
  for (const SvgPoint& point : points) {
    if (!finite(point)) continue;
    ++count;
    mean_x += (point.first - mean_x) / count;
    mean_y += (point.second - mean_y) / count;
  }
  double xx = 0, xy = 0, yy = 0;
  for (const SvgPoint& point : points) {
    if (!finite(point)) continue;
    const double x = point.first - mean_x;
    const double y = point.second - mean_y;
    xx += x * x;
    xy += x * y;
    yy += y * y;
  }
  if (count < 2 || !(xx > 0)) return std::nullopt;
  FitLine fit;
  fit.slope = xy / xx;
  fit.offset = mean_y - fit.slope * mean_x;
  fit.r_squared = yy > 0 ? xy * xy / (xx * yy) : 1;
  return fit;
}

}  // namespace jarvis::output
