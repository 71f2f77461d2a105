// How many streaming multiprocessors a device has whose properties were not recorded: NVIDIA's
// profiler writes of each kernel its grid and "blocks per SM", whose ratio is that number.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "trace/event_store.h"

namespace jarvis::analysis {

// Absent: kernels do not say (ROCm's never do), or not all of the devices are alike. Looks at some
// thousand kernels at most. Pure; any thread.
std::optional<std::int64_t> ComputeUnitsByGrids(const trace::EventStore& events,
                                                std::span<const trace::EventIndex> gpu);

}  // namespace jarvis::analysis
