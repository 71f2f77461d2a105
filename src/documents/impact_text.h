// What a finding is worth, in a sentence.
#pragma once

#include <string>

#include "documents/prose.h"
#include "findings/one/analysis.h"

namespace jarvis::documents {

// Whether it is about copies or communication, which cost what nothing hides.
bool MovesData(const findings::Finding& finding);
// Of what happens once: what goes of the recording, told as the host's time where that is nearly
// the same. REQUIRES: finding.one_off, with a saving.
double OnceMs(const findings::Finding& finding);
// Whether it is paid by each new process: nothing takes it away, a warm-up only leaves it out of
// what is measured.
bool IsPaidOnce(const findings::Finding& finding);
// Of what happens once: "12.3 ms once", or "one-time cost: 12.3 ms at the start of each process".
std::string OnceCell(const findings::Finding& finding);
// Of calls that are slow among equals: " (5 of 20 of equal size in all)"; of others nothing.
std::string OfEqualCalls(const findings::Finding& finding);
// Whether it saves next to nothing before the host is faster.
bool ShowsLater(const findings::Finding& finding);
// Autocast, by which training runs in 16 bits, casts with launches of its own, unless they are
// compiled: while the host sets the pace it makes the step longer.
bool AddsLaunches(const findings::Analysis& analysis, const findings::Finding& finding);
// What it saves before anything else is done, per unit: "2.32 to 5.77 ms", or "almost nothing".
// REQUIRES: a saving of wall time.
std::string AloneText(const findings::Analysis& analysis, const findings::Finding& finding);
// What makes kernels faster where the host sets the pace; of a finding that ShowsLater.
std::string LaterText(const findings::Analysis& analysis, const findings::Finding& finding);
// Whether its saving is gone once those before it are done.
bool LeavesNothing(const findings::Analysis& analysis, const findings::Finding& finding);
// Why it saves more than the time that is told of it, a sentence; empty: it does not.
std::string BeyondText(const findings::Analysis& analysis, const findings::Finding& finding);
// Whether more would go if the host took no time: it sets the pace once communication is gone.
bool TellsJoint(const findings::Analysis& analysis, const findings::Finding& finding);
// Of communication whose bound is next to nothing, because the host sets the pace: what of it is
// transfer, which a faster one could spare later. 0: all of it, as far as is known.
double MostOnceFaster(const findings::Analysis& analysis, const findings::Finding& finding);
// Whether a bound is next to nothing, so that it is said to be nothing.
bool SavesNothingAlone(const findings::Analysis& analysis, double bound_ms);
// The bound of a finding that has no saving, as far as the way out that is told first reaches.
// REQUIRES: finding.bound_ms.
double BoundOfAction(const findings::Finding& finding, bool path_b);
// Whether all that is known is what it could save at most, which is in no sum.
bool IsBound(const findings::Finding& finding);
// What it saves of the wall time once what is ranked before it is done; where wall time is not
// known, of GPU time. `additional_ms`: of GPU time, what it adds to the findings before it; null:
// all its own.
std::string ImpactSentence(const findings::Analysis& analysis, const findings::Finding& finding,
                           const findings::Range* additional_ms);

// "with one kernel per chain (based on: calls in this trace)": what a saving rests on.
std::string TargetText(const findings::Change& change);

// A path of a card, 'A' or 'B': its text, unless the action above says just that, and what it
// saves, unless the impact below does.
std::string PathLine(const findings::Analysis& analysis, const findings::Finding& finding,
                     const FindingText& text, char letter);

}  // namespace jarvis::documents
