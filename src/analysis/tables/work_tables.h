// What the tables about work have in common: unified_table.h and family_table.h make them.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/attribution/overlap.h"
#include "analysis/attribution/work_calls.h"
#include "analysis/tables/ops_tables.h"

namespace jarvis::analysis {

// Columns after the sum of the kernel time, made from all GPU work of a row and that sum.
struct ExtraColumns {
  std::vector<std::string> names;
  std::function<std::vector<Cell>(std::span<const EventIndex> kernels, double kernel_us)> cells;
};

struct WorkTableOptions {
  MetricRules metrics;
  bool call_stacks = false;  // columns entry_point and call_stack_full
  // A member call_stack in the kernel cells.
  bool stacks_in_kernel_cells = false;
  bool num_kernels = false;  // family tables: calls with another number of kernels are rows apart
  ParentFunction parent;     // callers, for call stacks
  // The kernel of a part of an op has its launch's callers behind the part's own.
  bool parts_repeat_callers = false;
  // By call. With it the table is the _kl_overlap one; see OverlapColumns.
  const std::vector<Overlap>* overlaps = nullptr;
  const ExtraColumns* extra = nullptr;  // of unified_perf_summary; null: none
};

}  // namespace jarvis::analysis
