// One table per family of models (GEMM, SDPA_fwd...), with the parameters of its calls.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analysis/tables/work_tables.h"

namespace jarvis::analysis {

// One row per distinct (op, parameters) of a family's calls. The calls have metrics.
Table FamilyTable(const TableInput& input, const std::string& name,
                  std::span<const WorkCall* const> calls, const WorkTableOptions& options);

// The family tables' names in the report's order; families that are not listed follow by name.
std::span<const std::string_view> FamilyOrder();

}  // namespace jarvis::analysis
