// Replays a graph: one pass over its nodes. How long each edge takes is a row of delays, apart from
// the graph, so that questions change delays and share the graph.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "analysis/simulation/dependency_graph.h"

namespace jarvis::analysis {

// An edge that does not hold.
inline constexpr double kNoEdge = -1e18;

using Delays = std::vector<double>;  // us, by edge

// What one edge takes beyond the constants of the trace, for a reason that nothing recorded tells.
struct OpaqueDelay {
  std::uint32_t node;
  std::uint32_t edge;
  double us;
};

// A graph under a set of assumptions, and its delays.
struct FittedGraph {
  Delays constants;  // the trace's constants; what is opaque on top
  Delays observed;   // with these the replay gives the observed times
  std::vector<OpaqueDelay> opaque;
  // First works of streams that started long after their launch: the GPU was busy with what was not
  // recorded.
  std::vector<OpaqueDelay> unrecorded;
};

// Which assumptions hold; the others' edges do not.
struct Assumptions {
  bool hidden_waits = true;
  bool hidden_candidates = false;
  bool inferred_waits = true;
  bool hand_overs = true;
  bool collective_ends = false;
};

FittedGraph Fit(const DependencyGraph& graph, const Assumptions& assumptions);

// The delays with what is opaque tied to the launch of the work instead of to what bound it.
Delays TieToLaunches(const DependencyGraph& graph, const FittedGraph& fitted);

// Times by node, in microseconds from the start of the recording; returns the latest.
double Replay(const DependencyGraph& graph, const Delays& delays, std::vector<double>* times);

// The edge that a node waited for longest; kNoPlace for node 0.
std::uint32_t BindingEdge(const DependencyGraph& graph, const Delays& delays,
                          const std::vector<double>& times, std::uint32_t node);

}  // namespace jarvis::analysis
