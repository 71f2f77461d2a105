// When the work that a finding is about ran, for whoever shows it on a line of time.
#pragma once

#include <cstdint>

#include "base/interval.h"
#include "findings/one/analysis.h"

namespace jarvis::findings {

// Nanoseconds on the trace's clock, pieces that nearly touch together: the GPU work of its members;
// of findings about the host, what the host would do otherwise. Empty: it has no place.
IntervalSet<std::int64_t> FindingSpans(const trace::EventStore& events, const Analysis& analysis,
                                       const Finding& finding);

}  // namespace jarvis::findings
