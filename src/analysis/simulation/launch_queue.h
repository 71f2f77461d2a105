// The GPU's launch queue has a length: the host waits in a launch call until there is room.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/simulation/calibration.h"
#include "analysis/simulation/host_waits.h"
#include "analysis/simulation/recorded_work.h"

namespace jarvis::analysis {

inline constexpr double kQueueReturn = 4;  // us from the start that makes room to the call's return
// As much later, or earlier by the two clocks, it may be.
inline constexpr double kQueueReturnMax = 25;
inline constexpr double kQueueEarlyMax = 2;

struct LaunchQueue {
  std::uint32_t length = 0;  // launches that were outstanding when calls waited; 0: never full
  // By call: the work whose start makes room for the call's launch, or kNoPlace.
  std::vector<std::uint32_t> room_after;
};

LaunchQueue FindLaunchQueue(const RecordedWork& recorded, const Calibration& calibration,
                            const HostWaits& waits);

// A launch that takes this long compared with the usual one waited for something.
bool IsSlowLaunch(const HostCall& call, const Calibration& calibration);
// Whether a call returned because there was room from `room` on.
bool IsReturnAfter(const HostCall& call, double room);

}  // namespace jarvis::analysis
