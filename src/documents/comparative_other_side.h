// What only the other side of a comparison tells to do: findings about work whose shapes the
// baseline alone records, and what was faster there.
#pragma once

#include "documents/comparative_levers.h"

namespace jarvis::documents {

// Of the baseline's analysis, whose calls have the shapes of what the candidate does in a graph.
LeverText TextOfMoved(const ComparativeFacts& facts, const findings::MovedFinding& moved);

// Whether a change of GPU work made the candidate slower, and no lever is about that already.
bool IsRegression(const ComparativeFacts& facts, const findings::PairChange& change);
// Going back is known to work.
LeverText TextOfRegression(const ComparativeFacts& facts, const findings::PairChange& change);

}  // namespace jarvis::documents
