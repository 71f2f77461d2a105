#include "analysis/frames/iteration_runs.h"

#include <algorithm>

namespace jarvis::analysis {

IterationRun BusiestRun(std::span<const Iteration> iterations, std::size_t count) {
  const auto requests = [&](std::size_t i) {
    return iterations[i].sums.context_requests + iterations[i].sums.generation_requests;
  };
  IterationRun best{0, std::min(count, iterations.size())};
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < best.count; ++i)
    sum += requests(i);
  std::int64_t most = sum;
  for (std::size_t i = best.count; i < iterations.size(); ++i) {
    sum += requests(i) - requests(i - best.count);
    if (sum <= most) continue;
    most = sum;
    best.first = i - best.count + 1;
  }
  return best;
}

std::optional<IterationRun> LongestRunOf(std::span<const Iteration> iterations, IterationRun within,
                                         std::string_view phase) {
  IterationRun best, run{within.first, 0};
  for (std::size_t i = within.first; i < within.first + within.count; ++i) {
    if (perf::PhaseOf(iterations[i].sums) != phase) {
      run = {i + 1, 0};
      continue;
    }
    ++run.count;
    if (run.count > best.count) best = run;
  }
  return best.count == 0 ? std::nullopt : std::optional(best);
}

}  // namespace jarvis::analysis
