// Tables about kernels: kernel_summary, short_kernel_histogram, short_kernels_summary.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/tables/ops_tables.h"

namespace jarvis::analysis {

// `total_us`: the timeline's total, for the percent columns; absent: those cells are too.
Table KernelSummary(const TableInput& input, std::optional<double> total_us);

struct ShortKernelOptions {
  double threshold_us = 10;  // strictly below is short
  std::int64_t bins = 100;
  std::optional<std::int64_t> topk;
};
// Equal bins over [shortest, longest] of the short kernels; the last bin includes its end.
Table ShortKernelHistogram(const TableInput& input, const ShortKernelOptions& options);
Table ShortKernelsSummary(const TableInput& input, const ShortKernelOptions& options,
                          std::optional<double> total_us);

}  // namespace jarvis::analysis
