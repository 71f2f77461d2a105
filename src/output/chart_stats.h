// The statistics that charts draw.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "output/svg.h"

namespace jarvis::output {

// REQUIRES: sorted, not empty. By linear interpolation between the two nearest values.
double Quantile(std::span<const double> sorted, double share);

struct BoxFigures {
  std::size_t count = 0;
  double low_whisker = 0;  // the last values within 1.5 interquartile ranges of the box
  double first_quartile = 0;
  double median = 0;
  double third_quartile = 0;
  double high_whisker = 0;
  double mean = 0;
  double low = 0;  // of all
  double high = 0;
  std::vector<double> outliers;  // beyond the whiskers, ascending
};
// Of the finite values; absent: there is none.
std::optional<BoxFigures> BoxOf(std::span<const double> values);

// A Gaussian kernel density estimate (Scott's rule: deviation * n^(-1/5)) at 100 points from the
// smallest to the largest value: (value, density with the largest as 1). Empty where all are equal.
std::vector<SvgPoint> DensityOf(std::span<const double> values);

struct FitLine {
  double slope = 0;
  double offset = 0;
  double r_squared = 0;
};
// Least squares; absent for fewer than two places on x.
std::optional<FitLine> FitOf(std::span<const SvgPoint> points);

}  // namespace jarvis::output
