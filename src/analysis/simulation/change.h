// Changes to a program, as far as a simulation can tell what they would do to its wall time.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "analysis/host/host_cost.h"
#include "analysis/simulation/dependency_graph.h"
#include "analysis/simulation/recorded_work.h"
#include "analysis/simulation/replay.h"

namespace jarvis::analysis {

inline constexpr std::uint32_t kAllTracks = 0xFFFFFFFFu;

// GPU events take so many times as long, each its own factor.
struct ScaleGpu {
  std::vector<trace::EventIndex> events;
  std::vector<double> factors;  // one an event, or one for all
};
// GPU events take so long, in microseconds.
struct SetGpuTime {
  std::vector<trace::EventIndex> events;
  std::vector<double> us;  // one an event, or one for all
};
// GPU events and their launches go. Fused work is this for all members but one, and SetGpuTime.
struct RemoveGpu {
  std::vector<trace::EventIndex> events;
};
// Host time outside waits takes so many times as long. Of stretches of one thread that overlap,
// each counts.
struct HostStretch {
  std::uint32_t track = kAllTracks;  // of EventStore::tracks
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};
struct ScaleHost {
  std::vector<HostStretch> stretches;
  double factor = 1;
  bool calls = true;  // false: what runtime calls cost stays as it is
};
// Launches between two waits of the host become one launch of a graph. An upper bound: it leaves
// out all host time between them, whatever it is for.
struct GraphLaunches {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};
// Copies from and to pageable memory use pinned memory, and uploads no longer hold the host up, nor
// does the wait of the op that uploads (without non_blocking=True PyTorch's waits after its copy);
// nor do copies back whose values are not read at once (LaunchBeforeRead). Other events are no
// copies and are passed over.
struct PinCopies {
  std::vector<trace::EventIndex> copies;  // GPU events
};
// Calls of the host, or the waits that no call shows, no longer wait.
struct RemoveWaits {
  std::vector<trace::EventIndex> calls;  // runtime calls
  bool all = false;                      // every one, those without a call too
};
struct RemoveProfilerCost {
  std::vector<HostCost> costs;
};

using Change = std::variant<ScaleGpu, SetGpuTime, RemoveGpu, ScaleHost, GraphLaunches, PinCopies,
                            RemoveWaits, RemoveProfilerCost>;

// What the lists of changes take up.
std::size_t MemoryOf(std::span<const Change> changes);

// Of changes whose own effect is known within limits only.
enum class Estimate : std::uint8_t { kLeast, kExpected, kMost };
// Bytes per microsecond over PCIe from pinned memory: generation 4 and 5 with 16 lanes. By
// Estimate.
inline constexpr double kPinnedRates[] = {25e3, 35e3, 50e3};

// What changes are applied to.
struct ChangeTarget {
  const RecordedWork& recorded;
  const DependencyGraph& graph;
  const HostWaits& waits;
  const Delays& observed;  // as recorded, before all changes
};

// What only some kinds of changes have: an effect of its own that is uncertain.
bool IsUncertain(const Change& change);

// Applies the changes one after the other.
void ApplyChanges(const ChangeTarget& target, std::span<const Change> changes, Estimate estimate,
                  Delays* delays);

// All GPU work takes no time, or all host work does.
void ZeroGpu(const DependencyGraph& graph, Delays* delays);
void ZeroHost(const DependencyGraph& graph, Delays* delays);

}  // namespace jarvis::analysis
