// The parts of a GPU timeline as answers and files call them.
#pragma once

#include "analysis/attribution/gpu_timeline.h"

namespace jarvis::formats {

struct TimelinePart {
  const char* name;
  double analysis::GpuTimeline::*us;
};
inline constexpr TimelinePart kTimelineParts[] = {
    {"computation", &analysis::GpuTimeline::computation},
    {"exposed_comm", &analysis::GpuTimeline::exposed_comm},
    {"exposed_memcpy", &analysis::GpuTimeline::exposed_memcpy},
    {"busy", &analysis::GpuTimeline::busy},
    {"idle", &analysis::GpuTimeline::idle},
    {"total", &analysis::GpuTimeline::total},
    {"total_comm", &analysis::GpuTimeline::total_comm},
    {"total_memcpy", &analysis::GpuTimeline::total_memcpy},
};

}  // namespace jarvis::formats
