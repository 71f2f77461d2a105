// What waits of the host cost, as causes of findings; internal to the layer.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/interval.h"
#include "findings/one/host_cause.h"
#include "findings/one/host_findings.h"
#include "findings/one/idle_ledger.h"
#include "findings/one/wait_places.h"

namespace jarvis::findings {

std::vector<analysis::HostStretch> StretchesOf(const IntervalSet<std::int64_t>& intervals);

// Whether they are so many that launches which come late for their lead are theirs: of one amid
// each step that may be the pace of the host as well.
bool TellsLead(const WaitPlaces& found);

// Host time of the ops that only fetch what is waited for.
IntervalSet<std::int64_t> HostTimeOf(const WaitPlaces& found);

// A check that is deleted computes nothing, waits for nothing and issues no op, whatever else
// stays as it is. Absent: too few, or too little. Takes `found`'s changes if there is a cause.
std::optional<HostCause> CauseOfChecks(const HostEvidence& evidence, const IdleLedger& ledger,
                                       WaitPlaces* found);

// Without the branch the parts are one graph: beside the wait, all goes that the host does from the
// last launch of one part to the first of the next (guards, the call of a graph, kernels that
// compute the value alone). Absent: too few, or too little. Takes `found`'s changes likewise.
std::optional<HostCause> CauseOfBreaks(const HostEvidence& evidence, const IdleLedger& ledger,
                                       WaitPlaces* found);

// Where each wait has a few small kernels only, these are late as well, and both go when such
// work is done at once and without reading results between. `checked`: host time that goes anyway.
std::optional<HostCause> CauseOfWaits(const HostEvidence& evidence, const IdleLedger& ledger,
                                      WaitPlaces* found, const IntervalSet<std::int64_t>& checked);

// Holds `cause` to what the ways out of it end: the first, which is sure, the waits of its kind,
// whatever the GPU then waits for behind others; all of them no more than the waits of theirs.
// REQUIRES: `ways` are of `found`, not empty.
void HoldToWays(const std::vector<Remedy>& ways, const WaitPlaces& found, HostCause* cause);

}  // namespace jarvis::findings
