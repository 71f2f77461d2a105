// Looks for fusion candidates among the calls of a trace. See fusion.h.
#pragma once

#include "findings/one/baseline.h"
#include "findings/one/calls.h"
#include "findings/one/category_analysis.h"
#include "findings/one/fusion.h"

namespace jarvis::findings {

// How it works: calls in host order, thread by thread. Two products around a softmax in one module
// are attention. Of the rest, runs of memory-bound calls in one module instance, on one stream,
// whose shapes fit each other, are chains; a chain right behind a product of the same shape is its
// epilogue. A call is in one candidate at most. Runs of one op alone are loops, not chains.
//
// Savings: the bytes of the ops, less each intermediate's write and read,
//   time at the bandwidth the chain has now (low), the trace's baseline (mid), the peak (high);
// attention: both products' FLOPs and Q, K, V, O at 30, 50 and 100 % of the roof.
FusionAnalysis FindFusions(Calls& calls, const std::vector<CategoryAnalysis>& categories,
                           const Baseline& baseline);

}  // namespace jarvis::findings
