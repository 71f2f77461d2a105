// unified_perf_summary and model_coverage: all GPU work of a trace, and how much of it has a model.
#pragma once

#include <span>

#include "analysis/tables/work_tables.h"

namespace jarvis::analysis {

// One row per distinct (op, arguments): all GPU work once, with what it achieved. By time, the
// longest first.
Table UnifiedPerfSummary(const TableInput& input, std::span<const WorkCall> calls,
                         const WorkTableOptions& options);

// How much of the GPU time has a model: one row for all that has, then one per reason why not, the
// longest first. Names the ops.
Table ModelCoverage(const TableInput& input, std::span<const WorkCall> calls);

}  // namespace jarvis::analysis
