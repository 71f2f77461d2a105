// May two traces be held against each other: the same model, arguments, precision and amount of
// work?
#pragma once

#include <string>
#include <vector>

#include "findings/two/common_order.h"
#include "session/loaded_trace.h"

namespace jarvis::findings {

// Likeness of two sets of calls: sum of the smaller over sum of the larger shares of calls, by op,
// by (op, Input Dims) and by (op, Input type); 1 if every op is called in the same proportion.
// What was not recorded counts as half alike.
//   score = 100 * ops * (0.3 + 0.4 shapes + 0.15 dtypes + 0.15 amount), 0.8 of it if the number of
//   ranks differs; amount = calls (a step, if both have steps), the smaller over the larger
// Devices and software do not change the score: to compare them is why one asks. Nor does a layer
// that was replaced: where what surrounds it is the same (CommonOrder::surrounds), the score is at
// least 40 and the share of corresponding calls.
struct Comparability {
  int score = 0;  // 0 to 100; 0 if either has no GPU work
  // "same file", "equal work" (100, and nothing is missing), "comparable" (80 and more), "the same
  // but for a changed part", "partly comparable" (40 and more), "not comparable".
  std::string verdict;
  CommonOrder order;
  std::vector<std::string> reasons;  // what is the same, what differs
};

Comparability AssessComparability(const session::LoadedTrace& primary,
                                  const session::LoadedTrace& comparison);

// The trace's devices, each once, by name: "NVIDIA H100 80GB HBM3"; empty: not recorded.
std::string DeviceNames(const session::LoadedTrace& trace);

}  // namespace jarvis::findings
