// Which of an inference server's steps stand for its service: where it is busiest.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "analysis/frames/iterations.h"

namespace jarvis::analysis {

// Steps one after the other.
struct IterationRun {
  std::size_t first = 0;
  std::size_t count = 0;
};

// The `count` steps in a row that serve the most requests together (all, if there are not as many);
// of equal ones the first. REQUIRES: there are steps, count > 0.
IterationRun BusiestRun(std::span<const Iteration> iterations, std::size_t count);

// At most `count` steps from the begin of the longest run of steady ones on; of equal ones the
// first; where none is steady, from the first step on. REQUIRES as above.
IterationRun SteadyRun(std::span<const Iteration> iterations, std::size_t count);

// What a load of requests that always waits for a free place does to a server: so many are served
// at once, and each generates between `least_part` of `most_tokens` and all of them, evenly.
struct SteadyLoad {
  std::int64_t requests = 0;
  double most_tokens = 0;
  double least_part = 0;

  // The part of the steps that process a prompt: in the steps of one request each of the others
  // begins once.
  double PromptShare() const;
};

// Steps that process a prompt, alone or beside others.
std::size_t CountPromptSteps(std::span<const Iteration> iterations, IterationRun run);

// Of the runs of `count` steps that serve nearly as many requests as the busiest the one whose part
// of steps with a prompt is nearest to this; of equal ones the busiest. REQUIRES as above.
IterationRun RunOfPromptShare(std::span<const Iteration> iterations, std::size_t count,
                              double share);

// The longest run inside `within` whose steps are all of a phase ("decode"...); absent: no step is.
std::optional<IterationRun> LongestRunOf(std::span<const Iteration> iterations, IterationRun within,
                                         std::string_view phase);

}  // namespace jarvis::analysis
