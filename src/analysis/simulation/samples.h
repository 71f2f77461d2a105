// Figures measured many times in one trace, by a key (a call's name, a pair of categories), and
// what is made of them. Everything takes values in ascending order, which Seal() makes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace jarvis::analysis {

// The share `q` (0 to 1) of the values lies below; 0 without values.
double Quantile(std::span<const double> sorted, double q);
// The middle one, or the mean of the two in the middle; `otherwise` without values.
double MedianOr(std::span<const double> sorted, double otherwise);
// The mean without the outermost twentieths and without what lies more than four interquartile
// ranges from the middle: a median would be off by a little at every link of a long chain.
double ClippedMean(std::span<const double> sorted, double otherwise);
double Mean(std::span<const double> values, double otherwise);
// The median distance from the median; huge without values.
double MedianDeviation(std::span<const double> sorted);

class SampleTable {
 public:
  void Add(std::uint64_t key, double value) { samples_.push_back({key, value}); }
  // To be called once, after the last Add and before the first question.
  void Seal();
  std::span<const double> Of(std::uint64_t key) const;
  // Of the values of a key: these are asked for once a value, and cost nothing.
  double MeanOf(std::uint64_t key, double otherwise) const;
  double ClippedMeanOf(std::uint64_t key, double otherwise) const;
  std::span<const double> All() const { return all_; }
  std::size_t size() const { return samples_.size(); }

 private:
  struct Sample {
    std::uint64_t key;
    double value;
  };
  struct Group {
    std::uint64_t key;
    std::size_t first;
    std::size_t end;
    double mean;
    double clipped_mean;
  };
  const Group* Find(std::uint64_t key) const;

  std::vector<Sample> samples_;
  std::vector<double> values_;  // by key, then value
  std::vector<double> all_;
  std::vector<Group> groups_;  // by key
};

// One key of two ids.
inline std::uint64_t PairKey(std::uint32_t a, std::uint32_t b) {
  return (static_cast<std::uint64_t>(a) << 32) | b;
}

}  // namespace jarvis::analysis
