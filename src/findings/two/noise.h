// How far the means of two samples may differ by chance. One test for the gate and for the verdict.
// Threads: any; pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace jarvis::findings {

struct Sample {
  std::size_t count = 0;
  double mean = 0;
  double deviation = 0;  // of a single value, by the sample; 0 of one

  double variance() const { return deviation * deviation; }
};
Sample SampleOf(std::span<const double> values);

// What the means may differ by at 95 %: Student's t with Welch's degrees of freedom, or of the one
// side that has several values. Absent: one value a side, or none.
std::optional<double> NoiseOf(const Sample& a, const Sample& b);

}  // namespace jarvis::findings
