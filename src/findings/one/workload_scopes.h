// What the scopes say that frameworks write into the names of ops: TensorFlow's name scopes, the
// named scopes and modules of JAX. Internal to the layer.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "findings/one/workload.h"
#include "findings/one/workload_facts.h"

namespace jarvis::findings {

// The scopes of an op's name from the model's on, without those of transformations, replicas and
// gradients, and without the op itself: "replica_4/bert/layer_0/Mul" is bert, layer_0.
std::vector<std::string_view> ModelScopes(std::string_view op_name);

// All scopes of the GPU's ops.
std::set<std::string> ScopesOfWork(const WorkloadFacts& facts);

// The model and its layers, where most of the GPU's ops have one scope of it and nothing else tells
// them.
void TellScopes(const WorkloadFacts& facts, Workload* out);

}  // namespace jarvis::findings
