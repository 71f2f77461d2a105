#include "findings/one/wait_causes.h"

#include <algorithm>
#include <utility>

#include "base/number_text.h"
#include "findings/one/advice_rules.h"
#include "findings/one/thresholds.h"

namespace jarvis::findings {
namespace {

// One wait at the end of a run is how anybody gets a result. One in the middle of each step costs
// the lead of every step.
bool AreTold(const HostEvidence& e, const HostCause& cause, const WaitPlaces& found) {
  const std::int64_t units = e.frames.frames.base.count;
  const bool every = units > 1 && found.amid >= static_cast<std::uint64_t>(units);
  const double ms = cause.idle_ms + cause.gpu_ms;
  return (every || TellsLead(found)) && e.base_ms > 0 &&
         ms >= limits::kHostShareMin / 100 * e.base_ms;
}

double WorkInScope(const HostEvidence& e, const analysis::RemoveGpu& gone) {
  double ms = 0;
  for (const trace::EventIndex gpu : gone.events) {
    const trace::Event& work = e.trace.events()[gpu];
    if (e.scope.Has(work.ts_ns)) ms += MillisOf(work.dur_ns);
  }
  return ms;
}

// That ops which only fetch take of the host, beside their waits.
double OwnHostMs(const HostEvidence& e, const WaitPlaces& found) {
  IntervalSet<std::int64_t> waits;
  for (const trace::EventIndex call : found.waits.calls) {
    const trace::Event& wait = e.trace.events()[call];
    waits.push_back({wait.ts_ns, wait.end_ns()});
  }
  return MillisOf(Length(e.scope.Of(Subtract(HostTimeOf(found), Union(std::move(waits))))));
}

HostCause WaitsOf(const WaitPlaces& found) {
  HostCause cause;
  cause.kind = HostCauseKind::kWaits;
  cause.count = found.count;
  cause.behind_ms = found.behind_ms;
  return cause;
}

// Idle time of launches that come late while such ops run.
double LateMeanwhile(IntervalSet<std::int64_t> late, const IntervalSet<std::int64_t>& host) {
  return MillisOf(Length(Intersect(Union(std::move(late)), host)));
}

}  // namespace

std::vector<analysis::HostStretch> StretchesOf(const IntervalSet<std::int64_t>& intervals) {
  std::vector<analysis::HostStretch> stretches;
  for (const Interval<std::int64_t>& interval : intervals)
    stretches.push_back({analysis::kAllTracks, interval.start, interval.end});
  return stretches;
}

bool TellsLead(const WaitPlaces& found) {
  return static_cast<double>(found.count) >= limits::kWaitsMin;
}

IntervalSet<std::int64_t> HostTimeOf(const WaitPlaces& found) {
  return Union(found.read_host);
}

std::optional<HostCause> CauseOfChecks(const HostEvidence& evidence, const IdleLedger& ledger,
                                       WaitPlaces* found) {
  const IntervalSet<std::int64_t> host = HostTimeOf(*found);
  HostCause cause = WaitsOf(*found);
  const double meanwhile_ms = LateMeanwhile(ledger.late(), host);
  cause.gone = TellsLead(*found);
  cause.idle_ms = found->behind_ms + std::max(cause.gone ? found->lead_ms : 0, meanwhile_ms);
  cause.gpu_ms = WorkInScope(evidence, found->read_gpu);
  if (!AreTold(evidence, cause, *found)) return std::nullopt;
  cause.total_ms = std::max(found->total_ms, MillisOf(Length(host)));
  cause.changes = {std::move(found->waits), analysis::ScaleHost{StretchesOf(host), 0}};
  if (!found->read_gpu.events.empty()) cause.changes.emplace_back(std::move(found->read_gpu));
  return cause;
}

std::optional<HostCause> CauseOfBreaks(const HostEvidence& evidence, const IdleLedger& ledger,
                                       WaitPlaces* found) {
  const IntervalSet<std::int64_t> read = HostTimeOf(*found);
  IntervalSet<std::int64_t> host = found->between_parts;
  host.insert(host.end(), read.begin(), read.end());
  host = evidence.scope.Of(Union(std::move(host)));
  HostCause cause = WaitsOf(*found);
  cause.parts = found->parts;
  const double meanwhile_ms = LateMeanwhile(ledger.late(), host);
  cause.idle_ms = found->behind_ms + std::max(found->lead_ms, meanwhile_ms);
  cause.gpu_ms = WorkInScope(evidence, found->read_gpu);
  if (!AreTold(evidence, cause, *found)) return std::nullopt;
  cause.moved_ms = MillisOf(Length(host)) + cause.gpu_ms;
  cause.total_ms = std::max(found->total_ms, MillisOf(Length(host)));
  cause.changes = {std::move(found->waits), analysis::ScaleHost{StretchesOf(host), 0}};
  cause.least = {cause.changes.front(), analysis::ScaleHost{StretchesOf(read), 0}};
  if (!found->read_gpu.events.empty()) {
    cause.least.emplace_back(found->read_gpu);
    cause.changes.emplace_back(std::move(found->read_gpu));
  }
  return cause;
}

std::optional<HostCause> CauseOfWaits(const HostEvidence& evidence, const IdleLedger& ledger,
                                      WaitPlaces* found, const IntervalSet<std::int64_t>& checked) {
  HostCause cause = WaitsOf(*found);
  IntervalSet<std::int64_t> late, late_of_others;
  double late_ms = 0, lead_ms = TellsLead(*found) ? found->lead_ms : 0;
  for (const IdlePhase& phase : ledger.phases) {
    if (!phase.waits_often()) {
      late_of_others.insert(late_of_others.end(), phase.late.begin(), phase.late.end());
      continue;
    }
    lead_ms -= phase.lead_ms;  // told with all of its late launches
    const double own_ms = MillisOf(Length(Subtract(phase.late, checked)));
    late_ms += std::min(phase.launch_ms, own_ms);
    cause.small_kernels = cause.small_kernels || phase.launch_ms > phase.sync_ms / 2;
    late.insert(late.end(), phase.gaps.begin(), phase.gaps.end());
  }
  // Elsewhere launches are late for the lead that is lost, and while a value is fetched: the same
  // idle time may be both.
  const double meanwhile_ms = LateMeanwhile(std::move(late_of_others), HostTimeOf(*found));
  cause.idle_ms = cause.behind_ms + late_ms + std::max({0.0, lead_ms, meanwhile_ms});
  cause.gpu_ms = WorkInScope(evidence, found->read_gpu);
  if (!AreTold(evidence, cause, *found)) return std::nullopt;
  cause.moved_ms =
      std::min(cause.idle_ms, found->total_ms) + cause.gpu_ms + OwnHostMs(evidence, *found);
  late = Subtract(Union(std::move(late)), checked);
  cause.changes = {std::move(found->waits)};
  // What is done without waiting is not yet done at once: all of those launches may stay.
  if (!late.empty() || !found->read_gpu.events.empty()) cause.least = cause.changes;
  // What nobody reads back is not computed and copied for it either.
  late.insert(late.end(), found->read_host.begin(), found->read_host.end());
  if (!late.empty())
    cause.changes.emplace_back(analysis::ScaleHost{StretchesOf(Union(std::move(late))), 0});
  if (!found->read_gpu.events.empty()) cause.changes.emplace_back(std::move(found->read_gpu));
  return cause;
}

void HoldToWays(const std::vector<Remedy>& ways, const WaitPlaces& found, HostCause* cause) {
  const Advice first = ways.front().advice;
  if (const auto ended = WaitsEndedBy(first); ended && ways.size() > 1)
    cause->least = {analysis::RemoveWaits{found.calls_of.at(*ended)}};
  if (first == Advice::kLoopAtOnce) return;
  double all_ms = 0, ended_ms = 0;
  for (const HostPlace& place : cause->places) {
    all_ms += place.idle_ms;
    const bool ends = std::ranges::any_of(
        ways, [&](const Remedy& way) { return WaitsEndedBy(way.advice) == place.wait; });
    if (ends) ended_ms += place.idle_ms;
  }
  if (all_ms > 0 && ended_ms > 0) cause->ended_part = ended_ms / all_ms;
}

}  // namespace jarvis::findings
