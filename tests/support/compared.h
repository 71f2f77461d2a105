// Two traces that a test writes, as a comparison sees them. Header only: for tests of documents.
#pragma once

#include <doctest/doctest.h>

#include "documents/comparative_facts.h"
#include "perf/platform.h"
#include "support/analyzed.h"

namespace jarvis::testing {

struct Compared {
  Compared(const TraceText& a, const TraceText& b)
      : candidate(Analyze(a, "H100")),
        baseline(Analyze(b, "H100")),
        sides{{{*candidate.trace, *perf::FindPlatform("H100")}, "a"},
              {{*baseline.trace, *perf::FindPlatform("H100")}, "b"}},
        collected(documents::CollectFacts(sides[0], sides[1], job)) {
    REQUIRE(collected.has_value());
  }
  const documents::ComparativeFacts& facts() const { return *collected; }

  Analyzed candidate, baseline;
  documents::ComparativeSide sides[2];
  Job job;
  Result<documents::ComparativeFacts> collected;
};

}  // namespace jarvis::testing
