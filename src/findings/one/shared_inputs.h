// Products of one input that follow each other, as queries, keys and values do: one product could
// make all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "findings/one/calls.h"
#include "findings/one/category_analysis.h"

namespace jarvis::findings {

struct SharedInput {
  std::size_t count = 0;                           // products of one input
  double m = 0, k = 0, n = 0;                      // each of them
  double us = 0;                                   // of the GPU, all groups
  std::vector<std::vector<std::uint32_t>> groups;  // calls, `count` each
};

// By count and sizes; those that take limits::kMergeShare of the computing time or more.
std::vector<SharedInput> FindSharedInputs(const Calls& calls,
                                          const std::vector<CategoryAnalysis>& categories);

}  // namespace jarvis::findings
