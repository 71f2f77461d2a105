// Puts the nodes of a graph in an order in which each follows all that it depends on.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/simulation/dependency_graph.h"

namespace jarvis::analysis {

struct DraftEdge {
  std::uint32_t to;
  double delay;
  GraphEdge edge;
};

// `draft` has nodes and places, in any order after node 0. Edges that close a circle are left out:
// inferred ones that go back in time first, then whatever crosses between host and streams.
DependencyGraph OrderGraph(DependencyGraph draft, std::vector<DraftEdge> edges);

}  // namespace jarvis::analysis
