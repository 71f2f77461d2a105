// What savings of wall time make of findings, once the simulation has told them: their classes,
// what of them is no lever, and what a setting reaches of them.
#pragma once

#include <optional>
#include <vector>

#include "analysis/simulation/change.h"
#include "analysis/simulation/recorded_work.h"
#include "findings/one/finding.h"
#include "findings/one/wall_plan.h"
#include "findings/one/wall_savings.h"

namespace jarvis::findings {

struct Analysis;

// The most, if a host that is not recorded lets so much of it show.
void RaiseTo(double unrecorded_ms, WallSaving* saving);

// The least saving, if so much is left of it without what recording cost.
void LowerTo(double left_ms, WallSaving* saving);

// Takes nothing of the host, whatever it saves.
bool ScalesGpuAlone(const WayOut& way);

// The same way for half of what goes.
WayOut HalfOf(WayOut way);

bool Advises(const std::vector<Remedy>& path, Advice advice);
// Of preparing inputs ahead in one step: the first still waits for its own. One worker hides of
// each no more than the rest of its time, several may hide all, unless one generator makes them
// all. Where one input is recorded, what there is to hide a next one behind is the rest of the
// step.
std::optional<Range> AheadOf(const Analysis& analysis, const Finding& finding);
// How long the GPU has nothing to do for a cause, of all units, as reports tell it: no more than
// the host takes there, and of phases what theirs add up to.
double IdleMs(const Analysis& analysis, const HostCause& cause);
// What a finding about the host saves at most: the time that it is told with.
double MostOfHost(const Analysis& analysis, const Finding& finding);
// The low end of a saving that idle time bounds: which of it is whose is known to a tenth.
double LeastAtBound(double ms);
// What of a section the call takes that it is named by; the rest may be anybody's.
double NamedPart(const HostCause& cause);
// What of communication can be hidden at most: no more than there is computing to hide it under.
// Infinite where the way out hides nothing.
double MostHidden(const Analysis& analysis, const Finding& finding);
// Where ways out of an exchange between ranks stand: settings of an engine are path B.
const std::vector<Remedy>& ExchangePath(const Finding& finding);
// Whether the first of them keeps ranks from waiting for each other.
bool BalancesExchange(const Finding& finding);
// Of what its first way out may save: balanced, ranks still take as long as their fastest call;
// faster, they wait as long for each other. Infinite where that is not known.
double MostOfExchange(const Analysis& analysis, const Finding& finding);
// What copies that changes pin still take, at the bus's rate; those of unknown size nothing.
Range PinnedMs(const analysis::RecordedWork& recorded,
               const std::vector<analysis::Change>& changes);
// How long the host stands in the calls of copies that changes pin and that it need not wait for;
// of copies back, with the time until the GPU has work again.
double HeldMs(const analysis::RecordedWork& recorded, const std::vector<analysis::Change>& changes);
// The most that is saved, of the longest unit that there may be without the profiler.
void HeightenTo(double most_ms, WallSaving* saving);
// Less what the change does not reach.
void Leave(double left_ms, WayOut* way, Range* ms);
Range Within(const Range& ms, const Range& most);
// Whether its first way out takes host time away, and not the GPU's alone.
bool SparesHost(const Finding& finding);
// Whether the host's work takes nearly all of what is left of the wall time once `saved_ms` of it
// is gone, and no less than the GPU's.
bool HostSetsPaceAfter(const Analysis& analysis, double saved_ms);
// Whether without what recording may have cost the GPU sets the pace.
bool GpuBindsUnrecorded(const WallBase& wall);
// Whether recording may have made the unit longer by much, so that shares are of what it is
// without. Where the profiler's pauses are told, savings are without them.
bool TellsUnrecorded(const WallBase& wall);
// What can be saved at most where so much GPU time goes: the unit, where recording matters without
// what it cost the host at least, still waits for the rest of the GPU's own work.
double MostSaved(const WallBase& wall, double gpu_gone_ms);
// The part of a saving that it is ranked by: of what is doubtful the middle between its least and
// what is expected. Host time is, where recording may have cost most of it or something has to go
// first, and so are fewer bits.
// REQUIRES: the finding has a saving.
double TrustIn(const WallBase& wall, const Finding& finding);
// Exposed communication whose cause is not known has no saving; it may be most of the step.
// What it is ranked by: what nothing hides of it, of which no more than its bound can go.
double SizeMs(const Finding& finding);
// The saving, in ms, that it stands before. Of what may all be waiting for other ranks, which one
// rank does not show to end, it is the middle of what is doubtful (TrustIn).
double SizeAgainstSaving(const Finding& finding);
bool RankedBySize(const WallBase& wall, const Finding& finding);
// A few elementwise ops below the memory's roof, and what has neither a saving nor a way out.
bool IsNoLever(const WallBase& wall, const Finding& finding);
// Percent of the unit: each end of the unit that it is of, which is longest where recording cost
// the host least.
Range SharesOf(const WallBase& wall, const Range& ms);
// The class says what the saving says.
void ClassifyByWall(Analysis* analysis);

}  // namespace jarvis::findings
