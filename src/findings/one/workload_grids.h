// Sizes that the grids of kernels tell where no op was recorded. Internal to the layer.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "session/loaded_trace.h"

namespace jarvis::findings {

struct MapSizes {
  std::int64_t batch = 0;
  std::vector<std::int64_t> sides;  // of square feature maps, one a batch norm, in order
};

// Of PyTorch's batch norm for NCHW, (N, C, H, W): its grid is C x N, and the element-wise kernel
// behind it has N * C * H * W elements, to a block. Where every layer has the same N, and every
// number of elements fits exactly one square map, of at least two sizes, none larger than the one
// before, N and the maps prove each other. Absent: one of them does not fit, or there are too few.
std::optional<MapSizes> MapSizesOf(const session::LoadedTrace& trace);

// Convolutions of forward passes, and sums of two tensors right behind a batch norm's forward
// kernel, which are residual connections.
struct ForwardCounts {
  std::uint64_t convolutions = 0, sums = 0;
};
ForwardCounts CountForward(const session::LoadedTrace& trace);

}  // namespace jarvis::findings
