// What the model ran on and in: precision, device, parallelism. Internal to the layer.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "findings/one/workload.h"
#include "findings/one/workload_facts.h"
#include "findings/one/workload_sizes.h"

namespace jarvis::findings {

// Hidden size, heads, experts, vocabulary, precision, device, parallelism. After TellModel.
void TellMachine(const WorkloadFacts& facts, const WorkloadSizes& sizes, Workload* out);

// The precision that a kernel's name tells: "bf16", "tf32", "mxfp4 x mxfp8"; empty: it does not.
std::string PrecisionOfKernel(std::string_view kernel);
// Whether a kernel multiplies matrices, convolves or attends, by its name.
std::optional<bool> IsMatrixKernel(std::string_view kernel);

}  // namespace jarvis::findings
