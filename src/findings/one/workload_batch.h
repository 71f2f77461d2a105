// How much one pass works on: batch, tokens, images. Internal to the layer.
#pragma once

#include "findings/one/workload.h"
#include "findings/one/workload_facts.h"
#include "findings/one/workload_sizes.h"

namespace jarvis::findings {

// Input and batch; of a server, which tells its own batch, the input alone. After TellModel.
void TellBatch(const WorkloadFacts& facts, const WorkloadSizes& sizes, bool server, Workload* out);

}  // namespace jarvis::findings
