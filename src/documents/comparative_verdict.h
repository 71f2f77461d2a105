// The first sentences of a comparison: is the candidate faster, and is that proven.
#pragma once

#include <string>

#include "documents/comparative_facts.h"

namespace jarvis::documents {

// "The candidate is faster: the recording takes 792.0 ms instead of 1361 ms, ...": with what proves
// it, or that nothing does; of one clock, that; of two that are not comparable, that before it.
std::string PairVerdict(const ComparativeFacts& facts);

// "Of the -569.2 ms: GPU work -314.6 ms, GPU idle -250.2 ms."; what communication's part may mean.
// Empty: nothing differs.
std::string PairSplit(const ComparativeFacts& facts);

}  // namespace jarvis::documents
