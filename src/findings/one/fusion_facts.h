// What is told of work that one kernel could do: of attention its sizes, its place, its settings.
#pragma once

#include <vector>

#include "findings/one/fact.h"
#include "findings/one/fusion.h"

namespace jarvis::findings {

struct Analysis;

std::vector<Fact> FusionFacts(const Analysis& analysis, const FusionCandidate& candidate);

}  // namespace jarvis::findings
