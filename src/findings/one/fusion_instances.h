// Where a trace has calls that one kernel could do together.
#pragma once

#include <vector>

#include "findings/one/fusion_calls.h"

namespace jarvis::findings {

// Products around a softmax, then chains of memory-bound calls, thread by thread. A call is in one
// of them at most.
std::vector<FusionInstance> FindFusionInstances(const FusionCalls& in);

}  // namespace jarvis::findings
