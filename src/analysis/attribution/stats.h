// Sums and moments with stated rounding.
//
// The algorithms are those of the table libraries that this field's reports were made with, so that
// equal inputs give equal last digits; see docs/differences.md.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace jarvis::analysis {

// Compensated (Kahan) sum in order: grouped sums.
double KahanSum(std::span<const double> values);
// Pairwise sum in blocks of 128 with eight accumulators: column sums and kernel cells.
double PairwiseSum(std::span<const double> values);

// Of a group. REQUIRES: not empty.
struct Moments {
  double mean;
  double median;
  std::optional<double> std;  // n - 1; absent for one value
  double min;
  double max;
  double sum;
};
Moments GroupMoments(std::span<const double> values);

double Median(std::vector<double> values);
// Population standard deviation around the pairwise mean.
double PopulationStd(std::span<const double> values);

}  // namespace jarvis::analysis
