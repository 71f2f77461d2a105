// The table of recommendations: what to do, why, and what it saves.
#pragma once

#include <string>
#include <vector>

#include "documents/same_action.h"

namespace jarvis::documents {

// Whether there is room for one way out alone and Path B is the one to tell of: the one that saves
// more, else the one that can be taken.
bool TakesPathB(const findings::Finding& finding);

// What to do, why, and what the way out that saves more is worth; of the GPU's time without a known
// wall time. One row an action. The column of what each saves after those above adds up to the last
// row, with what findings beyond the first `cards` save. Empty: there is none.
std::string LeverTable(const findings::Analysis& analysis, const TextEdits& edits,
                       const std::vector<ActionGroup>& groups, std::size_t cards);

}  // namespace jarvis::documents
