// What two traces launch in the same order: of an A/B of one changed part the surroundings are the
// same calls, and the change is what they surround.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "session/loaded_trace.h"

namespace jarvis::findings {

// Calls are those that launch GPU work themselves. Two calls correspond if they are the k-th of
// their name, shapes and types in their traces, if both traces have equally many of these, and if
// they are on a longest chain of such pairs that is in order in both (longest increasing
// subsequence, so n log n).
struct CommonOrder {
  double primary_calls = 0;  // all of each trace, unlinked work left out
  double comparison_calls = 0;
  double common_calls = 0;  // that correspond
  double candidates = 0;    // that both have equally often
  // Of each trace's calls, the longest stretch without a common one: 0 to 1.
  double longest_gap = 0;
  // Launchers that correspond, of the primary and of the comparison, in order.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  // The neighbours are the same and the order is: what differs is a part that they surround.
  bool surrounds() const;
};

CommonOrder FindCommonOrder(const session::LoadedTrace& primary,
                            const session::LoadedTrace& comparison);

}  // namespace jarvis::findings
