// Counters beside the rows of another table about the same kernels.
#pragma once

#include "base/job.h"
#include "rocprof/metrics/kernel_rows.h"
#include "table/table.h"

namespace jarvis::rocprof {

// `rows` has a column kernel_name, and threads, channels, rank and grid_size as far as they are
// known; a row becomes one for each grid of its kernel. Behind its columns stand those of
// KernelTable with "rocprof_" before their names, and rocprof_match says whose they are: "rank"
// (the row's config and rank), "config" (all ranks of it), "any" (the first config that has the
// kernel: kernels run undisturbed while counters are collected, so configs hardly matter), or
// absent: no counters, the row stands alone. Errors: kBadValue without kernel_name, kCancelled.
Result<Table> JoinWithRows(const Table& rows, const Capture& capture, const GroupOptions& options,
                           Job& job);

}  // namespace jarvis::rocprof
