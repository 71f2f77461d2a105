// Figures that few bad values cannot move: medians, deviations from them, and how often chance
// alone would have as many values on one side.
#pragma once

#include <cstddef>
#include <vector>

namespace jarvis::analysis {

// Of an even number the mean of the middle two. REQUIRES: not empty.
double FleetMedian(std::vector<double> values);

// The middle of many values and how far they usually lie from it.
struct FleetSpread {
  double median = 0;
  // The median absolute deviation, scaled so that it is the standard deviation of values that are
  // normally distributed; at least `floor`, as clocks and rounding are never exact.
  double sigma = 0;

  double ScoreOf(double value) const { return (value - median) / sigma; }
};
// REQUIRES: not empty.
FleetSpread SpreadOf(const std::vector<double>& values, double floor);

// Values above and below a middle; those that are exactly there say nothing.
struct FleetSigns {
  std::size_t above = 0;
  std::size_t below = 0;

  void Add(double difference) {
    if (difference > 0) ++above;
    if (difference < 0) ++below;
  }
  std::size_t count() const { return above + below; }
  // The sign test: how likely so many or more are above if each side is as likely as the other;
  // 1 without values.
  double Chance() const;
};

}  // namespace jarvis::analysis
