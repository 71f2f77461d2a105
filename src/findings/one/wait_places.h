// Where the host waits for the GPU, for what, and what goes when nobody waits any more; internal to
// the layer.
#pragma once

#include <span>
#include <vector>

#include "analysis/simulation/change.h"
#include "base/interval.h"
#include "findings/one/host_cause.h"
#include "findings/one/host_findings.h"

namespace jarvis::findings {

struct WaitPlaces {
  std::vector<HostPlace> places;  // by the idle time that follows, the most first
  double total_ms = 0;            // of the waits
  analysis::RemoveWaits waits;
  // Ops that only fetch a value or a count for Python, or compute it for a check: their host time
  // and GPU work.
  IntervalSet<std::int64_t> read_host;
  analysis::RemoveGpu read_gpu;
};

// `idle_ms`: by HostSummary::waits, the idle time behind each group; groups without any are left
// out, and so are calls outside of the scope. Pure.
WaitPlaces FindWaitPlaces(const HostEvidence& evidence, std::span<const double> idle_ms);

}  // namespace jarvis::findings
