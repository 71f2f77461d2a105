// What a reader has to know of a trace before any figure, and what to record next.
#pragma once

#include <string>
#include <vector>

#include "findings/one/analysis.h"

namespace jarvis::documents {

// At most five lines, what recommendations hang on first, then what weighs most; empty:
// nothing bears on what is said.
std::vector<std::string> TrustLines(const findings::Analysis& analysis);
// The same as a list.
std::string TrustList(const findings::Analysis& analysis);
// All of it; empty: nothing to say.
std::string QualityTable(const findings::Analysis& analysis);
// How savings were made and how well their replay holds, one sentence; empty: no GPU work.
std::string SavingsNote(const findings::Analysis& analysis);

}  // namespace jarvis::documents
