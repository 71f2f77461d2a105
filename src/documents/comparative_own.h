// What the candidate of a comparison could do by itself: the findings of its own analysis that are
// about nothing the comparison tells of.
#pragma once

#include <vector>

#include "documents/comparative_levers.h"

namespace jarvis::documents {

// In the order of that analysis, and with its figures; findings of one action are one lever.
std::vector<LeverText> OwnLevers(const ComparativeFacts& facts);

}  // namespace jarvis::documents
