// Which model a trace is of: by the module that owns the most GPU time, else by what its operations
// look like. Internal to the layer.
#pragma once

#include <cstdint>

#include "findings/one/workload.h"
#include "findings/one/workload_facts.h"
#include "findings/one/workload_sizes.h"

namespace jarvis::findings {

// The module that owns the trace's GPU time: the outermost class that is neither a wrapper nor one
// of PyTorch's own building blocks. Null: no module owns enough of it.
const ModulePlace* MainModule(const WorkloadFacts& facts);

// The outermost class below it that is repeated and that most of its time passes through. Null:
// none.
const ModulePlace* LayerModule(const WorkloadFacts& facts, const ModulePlace& main);

// How often the model ran: calls of its module, iterations of a server, steps; at least 1.
std::uint64_t ForwardPasses(const WorkloadFacts& facts);

// The number of runs that kernels with the most time have in common, and their share of the time of
// computing (0 to 1).
struct RepeatedWork {
  std::uint64_t count = 0;
  double share = 0;
};
RepeatedWork RepeatedKernels(const WorkloadFacts& facts);

// Model, family, components, layers. Of a family that its own ops show the sizes are forgotten that
// products and attention tell: they are none of the model's.
void TellModel(const WorkloadFacts& facts, WorkloadSizes* sizes, Workload* out);

}  // namespace jarvis::findings
