// What the figures of a comparison are of: the base of each side's ledger, whether the two are
// alike, and what bounds each.
#pragma once

#include <string>
#include <vector>

#include "documents/comparative_facts.h"

namespace jarvis::documents {

// "a step", "an iteration", "the recording".
std::string OneUnit(analysis::TimeUnit unit);

// What of a unit of the candidate (0) or the baseline (1) happens once, milliseconds.
double OneTimeMs(const findings::ComparedPair& pair, int side);

// A sentence each: the base of the candidate, of the baseline, what bounds them; then, where it is
// so, why the bases are not alike. Empty: a trace has no GPU work.
std::vector<std::string> PairBases(const ComparativeFacts& facts);

// Why the two bases are not alike, a clause each; empty: they are.
std::vector<std::string> UnlikeBases(const findings::ComparedPair& pair);

}  // namespace jarvis::documents
