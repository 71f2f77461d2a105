// Tables about work: unified_perf_summary, one table a family of models (GEMM, SDPA_fwd...), and
// model_coverage.
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
  // By call. With it the table is the _kl_overlap one; see OverlapColumns.
  const std::vector<Overlap>* overlaps = nullptr;
  const ExtraColumns* extra = nullptr;  // of unified_perf_summary; null: none
};

// One row a distinct (op, arguments): all GPU work once, with what it achieved. By time, the
// longest first.
Table UnifiedPerfSummary(const TableInput& input, std::span<const WorkCall> calls,
                         const WorkTableOptions& options);

// One row a distinct (op, parameters) of a family's calls. The calls have metrics.
Table FamilyTable(const TableInput& input, const std::string& name,
                  std::span<const WorkCall* const> calls, const WorkTableOptions& options);

// How much of the GPU time has a model: one row for all that has, then one a reason why not, the
// longest first. Names the ops.
Table ModelCoverage(const TableInput& input, std::span<const WorkCall> calls);

// The family tables' names in the report's order; families that are not listed follow by name.
std::span<const std::string_view> FamilyOrder();

}  // namespace jarvis::analysis
