// Where the host waits for the GPU, for what, and what goes when nobody waits any more; internal to
// the layer.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/simulation/change.h"
#include "base/interval.h"
#include "findings/one/host_cause.h"
#include "findings/one/host_findings.h"
#include "findings/one/idle_ledger.h"

namespace jarvis::findings {

struct WaitPlaces {
  std::vector<HostPlace> places;  // by the idle time that follows, the most first
  double total_ms = 0;            // of the waits
  double behind_ms = 0;           // idle time right behind them
  double lead_ms = 0;             // idle time later on, for the lead that they cost the host
  std::uint64_t count = 0;        // of those that idle time follows
  std::uint64_t amid = 0;         // of these, those after which much of their unit is launched
  // Most of them come in rounds of the same calls in the same order, as those of one loop do; 0:
  // they do not.
  std::uint64_t rounds = 0, waits_a_round = 0;
  bool computes = false;  // each round launches kernels of its own, it does not read alone
  analysis::RemoveWaits waits;
  std::map<WaitKind, std::vector<trace::EventIndex>> calls_of;  // these, by what they wait for
  // Ops that only fetch a value or a count for Python, or compute it for a check: their host time
  // and GPU work.
  IntervalSet<std::int64_t> read_host;
  analysis::RemoveGpu read_gpu;
  // Of breaks: the host from the last launch of one compiled part to the first of the next.
  IntervalSet<std::int64_t> between_parts;
  std::uint64_t parts = 0;  // compiled parts that ran in the units with such waits
};

// Checks whether values are as they should be can go as they are; branches of compiled code can be
// written without a branch; uploads of a batch's data need no wait and stay; other waits are for
// values that are needed.
struct FoundWaits {
  WaitPlaces checks, breaks, batch, others;
};

// Groups of waits that no idle time follows are left out, and so are calls outside of the scope.
// Pure.
FoundWaits FindWaitPlaces(const HostEvidence& evidence, const IdleLedger& ledger);

}  // namespace jarvis::findings
