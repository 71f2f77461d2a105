// How many blocks a kernel's grid has, and how many compute units there are for them. Internal to
// the layer.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/interval.h"
#include "session/loaded_trace.h"

namespace jarvis::findings {

// The sizes of a launch that `key` ("grid", "block") holds. Empty: none are recorded, or one is not
// from 1 to `most`.
std::vector<std::int64_t> LaunchSizesOf(const trace::EventStore& events, trace::EventIndex kernel,
                                        std::string_view key, std::int64_t most = 1 << 30);

// The product of the recorded grid, whatever it counts; absent: none is recorded.
std::optional<std::int64_t> GridBlocksOf(const trace::EventStore& events, trace::EventIndex kernel);

// The blocks of a kernel. Grids of ROCm's extended launches, which MIOpen and Tensile use, count
// work-items: they are divided by the block. Absent: not recorded, or they do not divide.
std::optional<std::int64_t> BlocksOf(const session::LoadedTrace& trace, trace::EventIndex kernel);

// Of the first device; absent: not recorded.
std::optional<std::int64_t> ComputeUnitsOf(const session::LoadedTrace& trace);

// A kernel of limits::kFewBlocksAnyUs or more whose grid has fewer blocks than there are compute
// units: some have nothing to do all the time, and neither memory nor arithmetic is its limit.
bool HasFewBlocks(const session::LoadedTrace& trace, trace::EventIndex kernel);

// Percent of the time of the kernels in `times` whose grids leave compute units without a block, by
// every k-th kernel where there are many. Communication is left out. Absent: too few kernels have a
// grid, or the compute units are not recorded.
std::optional<double> FewBlocksPercent(const session::LoadedTrace& trace,
                                       const IntervalSet<std::int64_t>& times);

}  // namespace jarvis::findings
