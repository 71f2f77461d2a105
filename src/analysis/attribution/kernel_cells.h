// The two cells that list the kernels behind a row of an ops table.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/attribution/table_rules.h"
#include "trace/event_store.h"

namespace jarvis::analysis {

struct KernelCell {
  std::string_view name;
  std::int64_t stream = trace::kAbsent;
  std::vector<double> durations_us;
  std::string more;       // further members as Python text, "'overlap_pct': 1.0"; before the count
  std::uint32_t nth = 0;  // of those of its name in a call, from 0
};

// One entry per kernel of the signature, over all calls; `calls`: each call's GPU events by start.
// Ordered by total time, then name. Kernels of different calls are matched by name and by how
// often that name came before in the call (or, by the rule for it, by position).
std::vector<KernelCell> SummarizeKernels(const trace::EventStore& events,
                                         std::span<const std::span<const trace::EventIndex>> calls,
                                         const TableRules& rules);

// By total time, then name.
void SortKernelCells(std::vector<KernelCell>* cells);

// [{'name': ..., 'stream': ..., 'count': ..., 'total_duration_us': ..., ...}]
std::string KernelSummaryText(std::span<const KernelCell> kernels);
// [{'name': at most 64 characters, 'stream': ..., 'mean_duration_us': two decimals}]; empty if
// none.
std::string KernelShortText(std::span<const KernelCell> kernels);

}  // namespace jarvis::analysis
