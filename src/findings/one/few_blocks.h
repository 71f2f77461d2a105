// Ops whose kernels have fewer blocks than the device has compute units; internal to the layer.
#pragma once

#include <optional>

#include "findings/one/calls.h"
#include "findings/one/category_analysis.h"
#include "findings/one/work_context.h"

namespace jarvis::findings {

// Why an op that no other rule explains is slow: a normalisation of few rows that a compiler would
// split, or any other kernel that leaves most of the device idle. Absent: its grids are large, not
// recorded, or counted in work-items; its kernels are short or near their roof.
std::optional<Cause> FewBlocksCause(const Calls& calls, const WorkContext& work,
                                    const CategoryAnalysis& category, const Operation& operation);

}  // namespace jarvis::findings
