// Dispatches of one kernel put together, with their times, metrics and resources.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/job.h"
#include "rocprof/metrics/kernel_filter.h"
#include "rocprof/metrics/metrics.h"
#include "rocprof/metrics/occupancy.h"

namespace jarvis::rocprof {

inline constexpr std::size_t kDispatchRowsMax = 200'000;

enum class GroupBy { kKernel, kKernelGrid, kDispatch };

struct GroupOptions {
  GroupBy by = GroupBy::kKernelGrid;
  bool by_rank = false;  // else all ranks of a config together, with the spread between them
  std::optional<double> clock_mhz;
  KernelFilter filter;
};

struct KernelRow {
  Config config;
  std::optional<std::int64_t> rank;  // by_rank, kDispatch
  std::string kernel;
  std::string label;             // short, of Tensile names; may be empty
  std::int64_t grid = kUnknown;  // work-items; kUnknown where grids differ
  std::int64_t workgroup = kUnknown;
  std::optional<std::int64_t> dispatch;  // kDispatch: its id
  std::uint64_t count = 0;
  std::uint64_t counted = 0;  // with counters
  // Of the dispatches that have a duration, µs; absent if none has.
  std::optional<double> mean_us, median_us, std_us, min_us, max_us, total_us;
  std::optional<double> share_pct;       // of the time of all kernels that were asked for
  std::optional<double> gemm_share_pct;  // of that of matrix products; absent: it is none
  Metrics metrics;
  // The largest among the dispatches, kUnknown if no file says.
  std::int64_t lds = kUnknown, scratch = kUnknown, vgpr = kUnknown, agpr = kUnknown,
               sgpr = kUnknown;
  std::optional<OccupancyLimit> limit;
  // Without by_rank: the means of the ranks.
  std::optional<double> rank_mean_min_us, rank_mean_max_us, rank_spread_pct;
  std::optional<std::int64_t> slowest_rank;
  // Of the mean, against the first config that has the same kernel, grid and rank.
  std::optional<double> change_pct;

  std::optional<std::int64_t> workgroups() const {
    if (grid <= 0 || workgroup <= 0) return std::nullopt;
    return grid / workgroup;
  }
};

// By config, rank, then time, the longest first (kDispatch: in the order of the files).
// Errors: kCancelled, kTooLarge for more than kDispatchRowsMax dispatches one by one, those of the
// filter.
Result<std::vector<KernelRow>> KernelRows(const Capture& capture, const GroupOptions& options,
                                          Job& job);

}  // namespace jarvis::rocprof
