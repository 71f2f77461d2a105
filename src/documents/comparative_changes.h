// What changed between the two sides of a comparison, in sentences, each with its net effect.
#pragma once

#include <string>
#include <vector>

#include "documents/comparative_facts.h"

namespace jarvis::documents {

// A line each, the largest net effect first: "-306.5 ms: ...". Empty where nothing is judged.
std::vector<std::string> PairChangeLines(const ComparativeFacts& facts);

}  // namespace jarvis::documents
