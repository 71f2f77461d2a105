// Why work takes longer than it must: the rules of rule_rows.h, applied to a trace's operations.
#pragma once

#include <string_view>
#include <vector>

#include "findings/one/calls.h"
#include "findings/one/category_analysis.h"
#include "findings/one/work_context.h"

namespace jarvis::findings {

// Gives operations their cause, with evidence and targets, and replaces their estimate by that of
// the cause: savings_x = part_x of the time that goes away, at most the exclusive time. Operations
// that a chain has claimed (Operation::claimed) keep out. Causes that take less than
// limits::kCauseShare of the computing time or limits::kFindingMin of the window are dropped. n log
// n in operations and events.
void FindCauses(const Calls& calls, const WorkContext& context,
                std::vector<CategoryAnalysis>* categories);

// Which matrix arithmetic a kernel's name tells. "sgemm" is fp32; "s1688" with fp32 operands TF32.
bool IsFp32ProductKernel(std::string_view kernel);
// align1 or align2, or of an architecture below 80 where the trace has newer ones.
bool IsUnalignedKernel(std::string_view kernel, int newest_architecture);
// The compute capability in a kernel's name ("cutlass_75", "sm90_xmma": 75, 90); 0: none.
int ArchitectureOf(std::string_view kernel);

}  // namespace jarvis::findings
