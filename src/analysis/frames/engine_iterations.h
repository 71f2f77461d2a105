// The iterations of an inference server and the requests of an image generator, by the annotations
// that these put around them.
#pragma once

#include <vector>

#include "analysis/frames/frame_facts.h"
#include "perf/iteration_annotation.h"

namespace jarvis::analysis {

struct NamedIteration {
  EventIndex annotation;
  perf::IterationSums sums;
  bool diffusion = false;  // a request of an image generator
};

// On the chosen thread, by start, apart. Where annotations of two kinds name the same iterations,
// those that say more.
std::vector<NamedIteration> EngineIterations(const FrameFacts& facts);

}  // namespace jarvis::analysis
