// What was done with the model: phase, batch, framework, execution. Internal to the layer.
#pragma once

#include "findings/one/workload.h"
#include "findings/one/workload_facts.h"
#include "findings/one/workload_sizes.h"

namespace jarvis::findings {

// Framework, phase, batch, input, execution, steps. After TellModel.
void TellPhase(const WorkloadFacts& facts, const WorkloadSizes& sizes, Workload* out);

}  // namespace jarvis::findings
