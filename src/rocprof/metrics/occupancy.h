// How many waves fit on a SIMD, by the resources that a kernel was compiled with.
//
// CDNA 2 and 3: VGPRs and accumulation VGPRs share 512 registers a lane, given in eights; LDS is
// shared by the work-groups of a compute unit (64 KiB; 160 KiB on gfx950); a SIMD holds 8 waves.
// Other architectures differ: absent.
#pragma once

#include <optional>
#include <string_view>

#include "rocprof/read/records.h"

namespace jarvis::rocprof {

struct OccupancyLimit {
  double waves_per_simd = 0;  // a work-group spreads over the four SIMDs of a compute unit
  std::string_view limiter;   // "registers", "lds", "hardware"
};

std::optional<OccupancyLimit> LimitOf(const Dispatch& dispatch, const Agent& agent);

}  // namespace jarvis::rocprof
