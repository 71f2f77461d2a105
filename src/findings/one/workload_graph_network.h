// Graph neural networks: rows gathered by edge and added up by node, or products with a sparse
// adjacency matrix. Internal to the layer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "findings/one/workload.h"
#include "findings/one/workload_facts.h"
#include "findings/one/workload_sizes.h"

namespace jarvis::findings {

struct GraphNetwork {
  double gpu_us = 0;                             // of all work on edges, as far as it shows
  std::int64_t nodes_least = 0, nodes_most = 0;  // 0: not known
  std::int64_t edges_least = 0, edges_most = 0;  // 0: not known
  std::string evidence;
  bool much = true;  // of the time: the trace is of it; else rows of products may still be nodes
};

// Absent: nothing shows one.
std::optional<GraphNetwork> FindGraphNetwork(const WorkloadFacts& facts,
                                             const WorkloadSizes& sizes);

// Family and input; a graph has no batch.
void TellGraphNetwork(const GraphNetwork& network, Workload* out);

}  // namespace jarvis::findings
