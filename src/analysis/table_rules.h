// Where two readings of a table's definition exist, the tables ask here. The defaults are ours; the
// other set is made in compat/, and nowhere else.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "analysis/clock.h"

namespace jarvis::analysis {

// The order of rows by a value, the largest first; equal values keep the order they come in.
std::vector<std::size_t> StableDescending(std::span<const double> values);

struct TableRules {
  Clock clock = Clock::kNanoseconds;
  // Calls of one signature that ran another number of kernels than the first call are left out of
  // the kernel cells, instead of being matched kernel by kernel.
  bool skip_deviating_kernel_lists = false;
  // Rows of short_kernels_summary without an op or without recorded arguments are dropped.
  bool drop_null_keys = false;
  // How tables with one sort key are ordered.
  std::vector<std::size_t> (*descending)(std::span<const double> values) = &StableDescending;
};

}  // namespace jarvis::analysis
