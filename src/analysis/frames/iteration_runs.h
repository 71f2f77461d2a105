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

// The longest run inside `within` whose steps are all of a phase ("decode"...); absent: no step is.
std::optional<IterationRun> LongestRunOf(std::span<const Iteration> iterations, IterationRun within,
                                         std::string_view phase);

}  // namespace jarvis::analysis
