// The table of the phases that both sides of a comparison have.
#pragma once

#include <string>
#include <vector>

#include "documents/comparative_facts.h"

namespace jarvis::documents {

// The rows of a table of phases: name, what the baseline and the candidate take, the difference.
struct PhaseRow {
  std::string name;
  std::string baseline, candidate, difference;
};
std::vector<PhaseRow> PairPhaseRows(const ComparativeFacts& facts);
// What these rows are of: "wall time", or "GPU time" of what the host launches in a phase.
std::string PhaseRowsOf(const ComparativeFacts& facts);

}  // namespace jarvis::documents
