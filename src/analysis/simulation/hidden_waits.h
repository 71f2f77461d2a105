// Waits of the host that no recorded call shows: a thread is silent and goes on right after the end
// of GPU work. One such case is a coincidence; they are accepted by how unlikely all of them are.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/simulation/host_points.h"
#include "analysis/simulation/host_waits.h"
#include "analysis/simulation/recorded_work.h"

namespace jarvis::analysis {

inline constexpr double kShortestSilence = 80;  // us: shorter ones are any code at all

struct HiddenWait {
  Silence silence;
  std::uint32_t work;  // that it waited for
  double delay;        // from its end to where the thread goes on
  bool accepted;
  bool candidate;  // not accepted, but not unlikely either
};

std::vector<HiddenWait> FindHiddenWaits(const RecordedWork& recorded, const HostPoints& points,
                                        const HostWaits& waits,
                                        const std::vector<HandOver>& hand_overs, bool clock_moved);

}  // namespace jarvis::analysis
