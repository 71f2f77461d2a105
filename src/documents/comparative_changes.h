// The answer to a comparison in sentences: is the candidate faster, is that proven, and what
// changed, each with its net effect.
#pragma once

#include <string>
#include <vector>

#include "documents/comparative_facts.h"

namespace jarvis::documents {

// "The candidate is faster: the recording takes 792.0 ms instead of 1361 ms, ...": with what proves
// it, or that nothing does; of one clock, that; of two that are not comparable, that before it.
std::string PairVerdict(const ComparativeFacts& facts);

// "Of the -569.2 ms: GPU work -314.6 ms, GPU idle -250.2 ms."; what communication's part may mean.
// Empty: nothing differs.
std::string PairSplit(const ComparativeFacts& facts);

// A line each, the largest net effect first: "-306.5 ms: ...". Empty where nothing is judged.
std::vector<std::string> PairChangeLines(const ComparativeFacts& facts);

// The rows of a table of phases: name, what the baseline and the candidate take, the difference.
struct PhaseRow {
  std::string name;
  std::string baseline, candidate, difference;
};
std::vector<PhaseRow> PairPhaseRows(const ComparativeFacts& facts);
// What these rows are of: "wall time", or "GPU time" of what the host launches in a phase.
std::string PhaseRowsOf(const ComparativeFacts& facts);

}  // namespace jarvis::documents
