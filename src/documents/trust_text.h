// What a reader has to know of a trace before any figure, and what to record next.
#pragma once

#include <string>

#include "findings/one/analysis.h"

namespace jarvis::documents {

// At most five lines of a list, what recommendations hang on first, then what weighs most; empty:
// nothing bears on what is said.
std::string TrustList(const findings::Analysis& analysis);
// How savings were made and how well their replay holds, one sentence; empty: no GPU work.
std::string SavingsNote(const findings::Analysis& analysis);

}  // namespace jarvis::documents
