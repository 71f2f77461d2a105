// Whether a recording of training holds any pass of the model at all. Internal to the layer.
#pragma once

#include "findings/one/workload.h"
#include "findings/one/workload_facts.h"

namespace jarvis::findings {

// Sets the phase where kernels of a training step are recorded and none of a forward or backward
// pass: masks of dropout, casts of weights or updates of an optimizer, without any product.
void TellFragment(const WorkloadFacts& facts, Workload* out);

}  // namespace jarvis::findings
