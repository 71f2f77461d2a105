// The steps of an inference server as its annotations name them: what each computes, and when. Of
// other programs, what a recording can be cut into.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/frames/frame_facts.h"
#include "analysis/frames/phases.h"
#include "analysis/frames/time_frames.h"
#include "perf/iteration_annotation.h"
#include "table/table.h"

namespace jarvis::analysis {

struct Iteration {
  std::string name;
  perf::IterationSums sums;  // without a format: of no server
  TimeSpan host{};           // of the annotation, which need not cover all that the step does
  // GPU work that was launched from its begin to that of the next one (of the last: to the end);
  // absent: none.
  std::optional<TimeSpan> gpu;
  std::uint64_t gpu_events = 0;
  std::int64_t busy_ns = 0;
  // From its begin to that of the next one; absent of the last, as nobody knows when that came.
  std::optional<std::int64_t> period_ns;
  bool steady = true;  // like the others
};

// By start, of the chosen thread. Where annotations of two kinds name the same steps, those that
// say more. Empty: none.
std::vector<Iteration> FindIterations(const FrameFacts& facts);

// Of a program that is no server: its steps where there are several; else what repeats in the one
// or in the recording and takes most of its time, as denoising steps and batches do. Each lasts
// until the next begins, the last as long as it is recorded. Empty: nothing repeats.
std::vector<Iteration> FindRepeats(const FrameFacts& facts, const TimeFrames& frames,
                                   const Phases& phases);

// One row each.
Table IterationsTable(const std::vector<Iteration>& iterations);

}  // namespace jarvis::analysis
