// The steps of an inference server as its annotations name them: what each computes, and when.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/frames/frame_facts.h"
#include "perf/iteration_annotation.h"
#include "table/table.h"

namespace jarvis::analysis {

struct Iteration {
  std::string name;
  perf::IterationSums sums;
  TimeSpan host{};  // of the annotation, which need not cover all that the step does
  // GPU work that was launched from its begin to that of the next one (of the last: to the end);
  // absent: none.
  std::optional<TimeSpan> gpu;
  std::uint64_t gpu_events = 0;
  std::int64_t busy_ns = 0;
  // From its begin to that of the next one; absent of the last, as nobody knows when that came.
  std::optional<std::int64_t> period_ns;
};

// By start, of the chosen thread. Where annotations of two kinds name the same steps, those that
// say more. Empty: none.
std::vector<Iteration> FindIterations(const FrameFacts& facts);

// One row each.
Table IterationsTable(const std::vector<Iteration>& iterations);

}  // namespace jarvis::analysis
