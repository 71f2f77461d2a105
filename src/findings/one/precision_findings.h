// A workload in 32 bits on a device that computes 16 bits faster: one change for the whole of it,
// products, convolutions, attention and the bytes of all that memory bounds.
#pragma once

#include <vector>

#include "findings/one/calls.h"
#include "findings/one/category_analysis.h"
#include "findings/one/finding.h"
#include "findings/one/work_context.h"
#include "ledger/kinds/kinds_of_work.h"

namespace jarvis::findings {

// Facts of how a model in 32 bits comes to run in bf16, by which texts say it: training casts under
// autocast, as weights need their bits; inference holds the weights in 16 bits, which costs no
// cast.
void AddWayToNarrow(const WorkContext& context, double bf16_tflops, std::vector<Fact>* facts);

// Sizes 16 bits for the whole forward pass: where a finding about products in fp32 proposes them,
// its Path A takes the other work along; where products are in TF32, a finding of its own is added
// to `structures`. Nothing: another precision, no such device, or too little of the time. Linear in
// GPU work.
void JudgePrecision(const Calls& calls, const ledger::KindsOfWork& kinds,
                    const WorkContext& context, std::vector<CategoryAnalysis>* categories,
                    std::vector<Finding>* structures);

}  // namespace jarvis::findings
