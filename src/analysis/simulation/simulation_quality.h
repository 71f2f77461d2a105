// How far answers of a simulation can be trusted.
#pragma once

#include "analysis/simulation/calibration.h"
#include "analysis/simulation/dependency_graph.h"
#include "analysis/simulation/host_waits.h"
#include "analysis/simulation/launch_queue.h"
#include "analysis/simulation/recorded_work.h"
#include "analysis/simulation/replay.h"

namespace jarvis::analysis {

struct MatchedWaits {
  // By calls that wait; by others that may and take long, while the GPU works.
  double waited_us = 0;
  double matched_us = 0;  // until work ended that explains the return
};
MatchedWaits MatchWaits(const RecordedWork& recorded, const HostWaits& waits,
                        const LaunchQueue& queue);

// Host time without any activity while the GPU works, on threads that launch; without the waits
// that the graph has. Microseconds.
double SilentWhileBusy(const RecordedWork& recorded, const DependencyGraph& graph);

// The edges of the critical path from its end, one a node; the graph as it was observed.
std::vector<std::uint32_t> PathNodes(const DependencyGraph& graph, const Delays& delays,
                                     const std::vector<double>& times);

}  // namespace jarvis::analysis
