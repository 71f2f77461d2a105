// What goes with a stretch of host work when the work goes: the waits that drained the GPU for it.
#pragma once

#include <vector>

#include "analysis/simulation/change.h"
#include "base/interval.h"
#include "findings/one/host_findings.h"

namespace jarvis::findings {

// Of host work behind a value that Python asked for (a metric that is printed or written down), and
// of a function that reads back and works on, nothing is launched between the read and the work.
// Whoever does the work more rarely, or on another thread, reads there, too: the waits since the
// last kernel was launched, their copies back, and the host time from the first of them to the end
// of the stretch. What is read in bulk outside the work may be needed elsewhere.
// `stretches`: by start. Empty: no stretch has such a wait.
std::vector<analysis::Change> WorkWithItsWaits(const HostEvidence& evidence,
                                               const IntervalSet<std::int64_t>& stretches);

}  // namespace jarvis::findings
