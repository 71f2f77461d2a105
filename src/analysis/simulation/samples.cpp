#include "analysis/simulation/samples.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace jarvis::analysis {

double Quantile(std::span<const double> sorted, double q) {
  if (sorted.empty()) return 0;
  const auto at = static_cast<std::size_t>(q * static_cast<double>(sorted.size()));
  return sorted[std::min(sorted.size() - 1, at)];
}

double MedianOr(std::span<const double> sorted, double otherwise) {
  if (sorted.empty()) return otherwise;
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

double ClippedMean(std::span<const double> sorted, double otherwise) {
  if (sorted.empty()) return otherwise;
  const std::size_t n = sorted.size();
  const std::size_t trimmed = n > 4 ? n / 20 : 0;
  const double middle = sorted[n / 2];
  const double spread = Quantile(sorted, 0.75) - Quantile(sorted, 0.25);
  const double limit = 4 * std::max(1.0, spread) + 1;
  double sum = 0;
  std::size_t count = 0;
  for (const double value : sorted.subspan(trimmed, n - 2 * trimmed)) {
    if (std::abs(value - middle) > limit) continue;
    sum += value;
    ++count;
  }
  return count == 0 ? middle : sum / static_cast<double>(count);
}

double Mean(std::span<const double> values, double otherwise) {
  if (values.empty()) return otherwise;
  double sum = 0;
  for (const double value : values)
    sum += value;
  return sum / static_cast<double>(values.size());
}

double MedianDeviation(std::span<const double> sorted) {
  if (sorted.empty()) return 1e9;
  const double middle = MedianOr(sorted, 0);
  std::vector<double> distances;
  distances.reserve(sorted.size());
  for (const double value : sorted)
    distances.push_back(std::abs(value - middle));
  std::sort(distances.begin(), distances.end());
  return MedianOr(distances, 0);
}

void SampleTable::Seal() {
  std::sort(samples_.begin(), samples_.end(), [](const Sample& a, const Sample& b) {
    return std::tie(a.key, a.value) < std::tie(b.key, b.value);
  });
  values_.reserve(samples_.size());
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    if (groups_.empty() || groups_.back().key != samples_[i].key) {
      groups_.push_back({samples_[i].key, i, i, 0, 0});
    }
    groups_.back().end = i + 1;
    values_.push_back(samples_[i].value);
  }
  for (Group& group : groups_) {
    const auto values = std::span(values_).subspan(group.first, group.end - group.first);
    group.mean = Mean(values, 0);
    group.clipped_mean = ClippedMean(values, 0);
  }
  all_ = values_;
  std::sort(all_.begin(), all_.end());
}

const SampleTable::Group* SampleTable::Find(std::uint64_t key) const {
  const auto found =
      std::lower_bound(groups_.begin(), groups_.end(), key,
                       [](const Group& group, std::uint64_t wanted) { return group.key < wanted; });
  return found == groups_.end() || found->key != key ? nullptr : &*found;
}

std::span<const double> SampleTable::Of(std::uint64_t key) const {
  const Group* group = Find(key);
  if (group == nullptr) return {};
  return std::span(values_).subspan(group->first, group->end - group->first);
}

double SampleTable::MeanOf(std::uint64_t key, double otherwise) const {
  const Group* group = Find(key);
  return group == nullptr ? otherwise : group->mean;
}

double SampleTable::ClippedMeanOf(std::uint64_t key, double otherwise) const {
  const Group* group = Find(key);
  return group == nullptr ? otherwise : group->clipped_mean;
}

}  // namespace jarvis::analysis
