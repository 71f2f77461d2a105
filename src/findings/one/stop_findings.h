// Findings about a host that stands still for what is no work of the program: memory that goes to
// the driver and back, another Python thread that holds the interpreter's lock, the interpreter's
// own garbage collection. Found by analysis/host/allocator_calls.h and host_stops.h.
#pragma once

#include <vector>

#include "base/interval.h"
#include "findings/one/host_findings.h"

namespace jarvis::findings {

struct StopFindings {
  std::vector<Finding> findings;
  IntervalSet<std::int64_t> intervals;  // host time that they explain
  // Calls that empty the allocator's cache and fill it again: nothing that a warm-up does. Sorted.
  std::vector<trace::EventIndex> flushes;
};

// Each with what a simulation is asked, as HostFindings. Pure.
StopFindings FindStops(const HostEvidence& evidence);

}  // namespace jarvis::findings
