// Two traces that a test writes, as a comparison sees them. Header only: for tests of documents.
#pragma once

#include <string_view>

#include <doctest/doctest.h>

#include "documents/comparative_facts.h"
#include "perf/platform.h"
#include "support/analyzed.h"

namespace jarvis::testing {

struct Compared {
  // `device`: of the baseline.
  Compared(const TraceText& a, const TraceText& b, std::string_view device = "H100")
      : candidate(Analyze(a, "H100")),
        baseline(Analyze(b, device)),
        sides{{{*candidate.trace, *perf::FindPlatform("H100")}, "a"},
              {{*baseline.trace, *perf::FindPlatform(device)}, "b"}},
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
