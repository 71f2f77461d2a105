// Pearson's correlation.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

namespace jarvis {

// 0 where either is constant, or there are none. Linear. REQUIRES: as many of both.
inline double Correlation(std::span<const double> x, std::span<const double> y) {
  const auto count = static_cast<double>(x.size());
  double x_mean = 0, y_mean = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    x_mean += x[i] / count;
    y_mean += y[i] / count;
  }
  double xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - x_mean) * (x[i] - x_mean);
    yy += (y[i] - y_mean) * (y[i] - y_mean);
    xy += (x[i] - x_mean) * (y[i] - y_mean);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

}  // namespace jarvis
