// Experts that run one after the other: a loop whose rounds are the same few GEMMs with weights of
// one shape, each over as many rows as were routed to it. Rounds launch little and, where each asks
// which rows are its own, wait for the GPU; one grouped GEMM a layer does the same without a loop.
#pragma once

#include <span>
#include <vector>

#include "findings/one/calls.h"
#include "findings/one/finding.h"
#include "findings/one/work_context.h"
#include "findings/one/workload.h"

namespace jarvis::findings {

// Told by shapes alone, on the thread that launches; what a backward pass does for a round is found
// by the ops that it belongs to. n log n in the events.
void FindExpertLoops(const Calls& calls, const WorkContext& context,
                     const std::vector<CategoryAnalysis>& categories, std::vector<Finding>* out);

// The model has experts, where one of these findings is of them; as many as the longest loop has
// rounds, if nothing else told how many.
void TellExpertLoops(std::span<const Finding> structures, Workload* workload);

}  // namespace jarvis::findings
