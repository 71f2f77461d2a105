// How steady GEMM kernels are, and what collectives beside them cost.
//
// A launch is clear if a collective of its rank ran during less than 5 % of it, overlapped if
// during more than 50 %. slowdown = mean of the overlapped over mean of the clear, as a change in
// percent. Pearson's r and the slope (microseconds for 0 -> 100 % overlap) are given where the
// share of overlap differs by at least 0.2 between launches.
#pragma once

#include "sweep/judge/spread.h"
#include "sweep/measure/facts.h"

namespace jarvis::sweep {

struct Stability {
  Spread spread;
  double overlap_mean = 0;  // share, 0..1
  std::size_t clear = 0, overlapped = 0;
  std::optional<double> clear_us, overlapped_us, slowdown_percent;
  std::optional<double> slope_us;  // for 0 -> 100 % overlap, by least squares
  std::optional<double> pearson;
  double excess_us = 0;                   // sum of (duration - median)
  std::optional<double> overlap_cost_us;  // sum over the overlapped of (duration - clear median)
};
Stability StabilityOf(std::span<const GemmInstance> instances);

// One row per configuration, rank, op, shapes and kernel.
Table GemmKernelStability(const SweepFacts& facts);
// One row per configuration, op, shapes and kernel: the spread between ranks.
Table GemmKernelRanks(const SweepFacts& facts);
// One row per op, shapes and kernel: the change of its mean over the configurations.
Table GemmKernelConfigs(const SweepFacts& facts);
// One row per configuration and collective: the GEMM time that ran beside it.
Table CollectiveGemmOverlap(const SweepFacts& facts);

// The mean over ranks, ops, shapes and kernels of their slowdowns, in percent; absent: no kernel
// has both clear and overlapped launches.
std::optional<double> MeanSlowdown(const ConfigFacts& config);
// Mean duration of a GEMM launch over all ranks, microseconds.
std::optional<double> MeanGemmUs(const ConfigFacts& config);

// What the sweep's rows of a rank are ranked by.
enum class RankBy : std::uint8_t { kRange, kStd, kCv, kTotalExcess, kOverlapCost };
std::optional<RankBy> RankByOf(std::string_view name);
// The least steady kernels of the whole sweep by that measure, as row numbers of
// GemmKernelStability; rows without it are left out.
std::vector<std::size_t> LeastSteady(const SweepFacts& facts, RankBy by, std::size_t limit);

}  // namespace jarvis::sweep
