// The sweep's table of GEMM variance: for each rank the rows of its GEMM table whose calls differ
// most, with the times of the extremes and the collectives beside the slowest.
//
// "Variance" is what the users' scripts call the range: the longest minus the shortest call of one
// (op, shapes) in one rank. stability.h has real measures of spread.
#pragma once

#include "sweep/measure/facts.h"

namespace jarvis::sweep {

inline constexpr std::size_t kVarianceTop = 5;  // rows per rank

struct VarianceRow {
  std::size_t config = 0;  // SweepFacts::configs
  std::int64_t rank = 0;
  std::string kernel;
  double min_us = 0, max_us = 0;
  double range_us = 0;
};
// By range, the largest first.
std::vector<VarianceRow> VarianceRows(const SweepFacts& facts, std::size_t top_k = kVarianceTop);

// top5_gemm_kernels_time_variance, ..._with_timestamps, ..._with_collective_overlap: the same rows
// with named columns (threads, channel, rank...), then col_<column of the GEMM table>. The second
// and the third have more columns at the end. "top5" whatever top_k is, as those who read the files
// expect it.
std::vector<Table> VarianceTables(const SweepFacts& facts, std::size_t top_k = kVarianceTop);

}  // namespace jarvis::sweep
