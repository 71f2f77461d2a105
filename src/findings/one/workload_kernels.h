// What a recording without ops is of, by how often kernels of a kind ran. Internal to the layer.
#pragma once

#include "findings/one/workload.h"
#include "findings/one/workload_facts.h"

namespace jarvis::findings {

// Of a convolutional network: "20 convolutions, 20 batch norms, 1 pooling, 1 linear layer".
void TellKernels(const WorkloadFacts& facts, Workload* out);

}  // namespace jarvis::findings
