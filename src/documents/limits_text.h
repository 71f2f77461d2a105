// What the first recommendations hang on and this trace does not tell.
#pragma once

#include <string>
#include <vector>

#include "findings/one/analysis.h"

namespace jarvis::documents {

// A product whose calls are equal, by shape and kernel, and take unlike times: clocks or power.
// Only one that takes so long that neither a cold cache nor a neighbour explains it. Null: there is
// none.
const findings::Operation* EqualCallsOf(const findings::Analysis& analysis);

// What was left out of the recording, with all that is to be recorded next for it; empty: nothing
// that bears on what is said.
std::string NotRecordedText(const findings::Analysis& analysis);

// A sentence or two each, with what to record next; by rank of what hangs on it, a few at most.
std::vector<std::string> RecommendationLimits(const findings::Analysis& analysis);

}  // namespace jarvis::documents
