#include "findings/one/wall_classes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <variant>

#include "findings/one/analysis.h"
#include "findings/one/estimates.h"
#include "findings/one/thresholds.h"

namespace jarvis::findings {
namespace {

double PercentOf(const WallBase& wall, double ms) {
  return wall.wall_ms > 0 ? ms / wall.wall_ms * 100 : 0;
}

// What only a recording of another kind would tell more of.
bool NeedsAnotherRecording(const Finding& finding) {
  return std::any_of(finding.patterns.begin(), finding.patterns.end(), [](const PatternHit& hit) {
    return hit.pattern == Pattern::kGraphLaunch || hit.pattern == Pattern::kUnlinked;
  });
}

// Of an optimizer, what its own places show.
double OwnIdleMs(const HostCause& cause) {
  if (cause.kind != HostCauseKind::kOptimizer)
    return cause.total_ms > 0 ? std::min(cause.total_ms, cause.idle_ms) : cause.idle_ms;
  double places = 0;
  for (const HostPlace& place : cause.places)
    places += place.idle_ms;
  return places > 0 ? std::min(places, cause.idle_ms) : cause.idle_ms;
}

}  // namespace

bool Advises(const std::vector<Remedy>& path, Advice advice) {
  return std::any_of(path.begin(), path.end(),
                     [&](const Remedy& remedy) { return remedy.advice == advice; });
}

std::optional<Range> AheadOf(const Analysis& analysis, const Finding& finding) {
  const bool ahead = finding.host != nullptr && Advises(finding.path_b, Advice::kPrepareAhead);
  if (!ahead || analysis.base.count > 1) return std::nullopt;
  const HostCause& host = *finding.host;
  const double rest_ms = std::max(0.0, analysis.wall.wall_ms - host.total_ms);
  if (host.count <= 1) {
    const double most = std::min(host.total_ms, rest_ms);
    return Range{0, most, most};
  }
  const auto behind = static_cast<double>(host.count - 1);  // inputs that come after another
  const double part = behind / static_cast<double>(host.count);
  double one_ms = std::min(host.total_ms, rest_ms) * part;
  if (host.period_ms)
    one_ms = std::min(one_ms, behind * std::max(0.0, *host.period_ms - host.each_ms));
  // Several workers share the inputs; what one generator makes, one worker has to.
  return Range{one_ms, one_ms, host.generated ? one_ms : host.total_ms * part};
}

double IdleMs(const Analysis& analysis, const HostCause& cause) {
  const analysis::Balance& balance = analysis.base.balance;
  std::int64_t most = balance.idle_ns();
  if (cause.kind != HostCauseKind::kLaunchBound) most += balance.host_before_ns + balance.after_ns;
  const double idle = OwnIdleMs(cause);
  // About all of a line of the wall book is told as that line is.
  constexpr double kAbout = 0.05;
  const double input_ms =
      analysis.frames == nullptr
          ? 0
          : static_cast<double>(analysis.frames->books.wall.Of(ledger::IdleCause::kInput)) / 1e6;
  if (cause.loading && std::abs(idle - input_ms) <= kAbout * input_ms) return input_ms;
  return cause.once || most <= 0 ? idle : std::min(idle, static_cast<double>(most) / 1e6);
}

double MostOfHost(const Analysis& analysis, const Finding& finding) {
  // What a rule knows goes with its GPU work.
  if (finding.rule) return finding.time_ms;
  const HostCause& cause = *finding.host;
  if (cause.gone) return MostSaved(analysis.wall, analysis.wall.gpu_own_ms);
  // Sooner at the optimizer is sooner at what comes next, whose idle time goes with its own.
  if (cause.kind == HostCauseKind::kOptimizer) return cause.idle_ms;
  // Where the host is the bound, all that it is spared shortens the step, until the GPU binds.
  const WallBase& wall = analysis.wall;
  if (cause.moved_ms > 0 && wall.host_floor_ms > wall.gpu_floor_ms)
    return cause.ended_part * cause.moved_ms;
  double idle_ms = IdleMs(analysis, cause);
  // What a call that waits takes to return is no work, on whichever thread it is made.
  if (cause.kind == HostCauseKind::kSection && 2 * cause.nothing_ms > cause.total_ms) {
    const ledger::WallBook& book = analysis.frames->books.wall;
    const std::int64_t room = book.total_idle_ns() - book.Of(ledger::IdleCause::kRoundTrip);
    idle_ms = std::clamp(MillisOf(room), 0.0, idle_ms);
  }
  return cause.ended_part * idle_ms + cause.behind_work_ms + cause.gpu_ms;
}

double LeastAtBound(double ms) {
  constexpr double kAttributed = 0.1;
  return (1 - kAttributed) * ms;
}

double NamedPart(const HostCause& cause) {
  if (cause.unsure) return 0;
  const bool named = cause.kind == HostCauseKind::kSection && !cause.loading &&
                     cause.within.empty() && !cause.places.empty() &&
                     2 * cause.places.front().ms > cause.total_ms;
  // Of the work that the least is of, where there is one.
  const double whole_ms = cause.work_ms > 0 ? cause.work_ms : cause.total_ms;
  return named ? std::min(1.0, cause.places.front().ms / whole_ms) : 1;
}

double MostHidden(const Analysis& analysis, const Finding& finding) {
  const auto advises = [&](Advice advice) {
    return Advises(finding.path_a, advice) || Advises(finding.path_b, advice);
  };
  const bool hides = advises(Advice::kOverlapMicroBatches) ||
                     advises(Advice::kOverlapCommunication) || advises(Advice::kOverlapAllToAll);
  if (!hides) return std::numeric_limits<double>::infinity();
  const ledger::Books& books = analysis.frames->books;
  const double computing = MillisOf(books.computing_ns());
  // A GEMM of a few tokens takes as long for half of them: it reads the same weights. Those of the
  // second half are computed on top of the first's, and hide that much less.
  const std::string& phase = analysis.workload[WorkloadPart::kPhase].value;
  if (!advises(Advice::kOverlapMicroBatches) || phase.find("decode") == std::string::npos)
    return computing;
  const double again = MillisOf(books.wall.Of(ledger::WorkKind::kProduct));
  return std::clamp(MillisOf(books.wall.communication_ns()) - again, 0.0, computing);
}

const std::vector<Remedy>& ExchangePath(const Finding& finding) {
  return finding.path_a.empty() ? finding.path_b : finding.path_a;
}

bool BalancesExchange(const Finding& finding) {
  const std::vector<Remedy>& path = ExchangePath(finding);
  return !path.empty() && path.front().advice == Advice::kBalanceExchange;
}

double MostOfExchange(const Analysis& analysis, const Finding& finding) {
  const bool balances = BalancesExchange(finding);
  const double hidden_ms = MostHidden(analysis, finding);
  const auto fact_ms = [&](std::string_view key) -> std::optional<double> {
    for (const PatternHit& hit : finding.patterns) {
      if (const auto ms = NumberOf(hit.facts, key)) return ms;
    }
    return std::nullopt;
  };
  const auto all_ms = fact_ms("comm_ms"), waiting_ms = fact_ms("waiting_ms");
  if (balances && waiting_ms) return *waiting_ms;
  // A faster transfer waits as long for late ranks.
  if (std::isinf(hidden_ms) && all_ms && waiting_ms) return std::max(0.0, *all_ms - *waiting_ms);
  return hidden_ms;
}

void RaiseTo(double unrecorded_ms, WallSaving* saving) {
  if (unrecorded_ms <= saving->ms.mid) return;
  saving->unrecorded_ms = unrecorded_ms;
  saving->ms.high = std::max(saving->ms.high, unrecorded_ms);
}

void LowerTo(double left_ms, WallSaving* saving) {
  saving->low_by_recording = left_ms < saving->ms.low;
  saving->ms.low = std::min(saving->ms.low, left_ms);
}

void HeightenTo(double most_ms, WallSaving* saving) {
  saving->ms.high = std::max(saving->ms.high, most_ms);
}

bool ScalesGpuAlone(const WayOut& way) {
  return std::all_of(way.changes.begin(), way.changes.end(), [](const auto& one) {
    return std::holds_alternative<analysis::ScaleGpu>(one);
  });
}

WayOut HalfOf(WayOut way) {
  for (analysis::Change& change : way.changes) {
    if (auto* scale = std::get_if<analysis::ScaleGpu>(&change)) {
      for (double& factor : scale->factors)
        factor = (1 + factor) / 2;
    }
  }
  if (way.cap_ms) *way.cap_ms /= 2;
  return way;
}

namespace {

// use(work) of each copy that changes pin.
template <typename Use>
void ForPinned(const analysis::RecordedWork& recorded, const std::vector<analysis::Change>& changes,
               const Use& use) {
  for (const analysis::Change& change : changes) {
    const auto* const pin = std::get_if<analysis::PinCopies>(&change);
    if (pin == nullptr) continue;
    for (const trace::EventIndex copy : pin->copies) {
      const std::uint32_t work = recorded.WorkAt(copy);
      if (work != analysis::kNoPlace) use(recorded.works[work]);
    }
  }
}

}  // namespace

Range PinnedMs(const analysis::RecordedWork& recorded,
               const std::vector<analysis::Change>& changes) {
  Range us{0, 0, 0};
  ForPinned(recorded, changes, [&](const analysis::GpuWork& work) {
    const auto at = [&](analysis::Estimate estimate) {
      const double rate = analysis::kPinnedRates[static_cast<std::size_t>(estimate)];
      return std::min(work.duration(), work.bytes / rate);
    };
    us.low += at(analysis::Estimate::kMost);
    us.mid += at(analysis::Estimate::kExpected);
    us.high += at(analysis::Estimate::kLeast);
  });
  return {us.low / 1000, us.mid / 1000, us.high / 1000};
}

double HeldMs(const analysis::RecordedWork& recorded,
              const std::vector<analysis::Change>& changes) {
  double us = 0;
  ForPinned(recorded, changes, [&](const analysis::GpuWork& work) {
    if (work.call == analysis::kNoPlace) return;
    const std::uint32_t next = analysis::LaunchBeforeRead(recorded, work);
    if (!work.from_host && next == analysis::kNoPlace) return;
    us += recorded.calls[work.call].duration();
    const std::uint32_t sync = recorded.calls[work.call].then_sync;
    if (sync != analysis::kNoPlace) us += recorded.calls[sync].duration();
    if (work.from_host) return;
    // After a copy back the GPU also stands still until the next work starts.
    us += std::max(0.0, recorded.works[recorded.WorksOf(recorded.calls[next]).front()].start -
                            recorded.calls[sync == analysis::kNoPlace ? work.call : sync].end);
  });
  return us / 1000;
}

void Leave(double left_ms, WayOut* way, Range* ms) {
  for (double* each : {&ms->low, &ms->mid, &ms->high})
    *each = std::max(0.0, *each - left_ms);
  if (way->cap_ms) way->cap_ms = std::max(0.0, *way->cap_ms - left_ms);
}

Range Within(const Range& ms, const Range& most) {
  return {std::min(ms.low, most.low), std::min(ms.mid, most.mid), std::min(ms.high, most.high)};
}

double SizeMs(const Finding& finding) {
  return std::min(finding.exclusive_ms, finding.bound_ms.value_or(finding.exclusive_ms));
}

double SizeAgainstSaving(const Finding& finding) {
  // Nothing to all of it: half is expected, and of that half is trusted.
  constexpr double kDoubtful = 0.25;
  if (finding.bound_ms && BalancesExchange(finding)) return kDoubtful * SizeMs(finding);
  return SizeMs(finding) / limits::kSizeAgainstSaving;
}

bool SparesHost(const Finding& finding) {
  const auto scales = [](const analysis::Change& change) {
    return std::holds_alternative<analysis::ScaleHost>(change);
  };
  const auto exact = [&](const std::optional<Change>& change) {
    return change && std::ranges::any_of(change->exact, scales);
  };
  return finding.host != nullptr || exact(finding.change_a) || exact(finding.change_b);
}

bool HostSetsPaceAfter(const Analysis& analysis, double saved_ms) {
  constexpr double kNearly = 0.9;  // of what is left
  const WallBase& wall = analysis.wall;
  const double work_ms = analysis.bound.host_work / 100 * wall.wall_ms;
  return wall.host_floor_ms >= kNearly * (wall.wall_ms - saved_ms) && work_ms >= wall.gpu_own_ms;
}

bool GpuBindsUnrecorded(const WallBase& wall) {
  constexpr double kAbout = 1.05;
  return wall.unrecorded_ms && wall.unrecorded_ms->low <= kAbout * wall.gpu_floor_ms;
}

bool TellsUnrecorded(const WallBase& wall) {
  constexpr double kLonger = 0.9;
  const bool longer = wall.unrecorded_ms && wall.unrecorded_ms->low < kLonger * wall.wall_ms;
  return wall.known && (wall.of_unrecorded || (wall.profiler_ms <= 0 && longer));
}

double MostSaved(const WallBase& wall, double gpu_gone_ms) {
  const double longest = wall.of_unrecorded ? wall.unrecorded_ms->high : wall.wall_ms;
  const double unit = TellsUnrecorded(wall) ? wall.unrecorded_ms->high : wall.wall_ms;
  const double left = std::max(0.0, wall.gpu_own_ms - std::max(0.0, gpu_gone_ms));
  const double margin = wall.replay_error_percent / 100 * longest;
  return std::clamp(unit - left + margin, 0.0, longest);
}

double TrustIn(const WallBase& wall, const Finding& finding) {
  const WallSaving& saving = *BestWall(finding);
  const Range& ms = saving.ms;
  const bool recording = wall.profiler_ms > 0 ? finding.host != nullptr
                                              : saving.low_by_recording && ms.low < ms.mid / 2;
  const bool unsure = finding.host != nullptr && finding.host->unsure;
  const bool inexact = finding.rule && Info(*finding.rule).inexact;
  const bool own_kernel = finding.rule && Info(*finding.rule).own_kernel;
  // Of what is mostly the recorder's, the rest: CPython takes about 0.1 us for a call
  // that it takes 0.4 us or more for while stacks are recorded.
  constexpr double kCallsThemselves = 0.25;
  if (finding.host != nullptr && finding.host->mostly_recorder())
    return std::max(kCallsThemselves, 1 - finding.host->recorder_ms / finding.host->total_ms);
  const bool doubtful = inexact || own_kernel || unsure || recording;
  return doubtful && ms.mid > 0 ? (ms.low + ms.mid) / 2 / ms.mid : 1;
}

bool RankedBySize(const WallBase& wall, const Finding& finding) {
  return finding.subject == "communication" && !finding.savings_ms &&
         PercentOf(wall, SizeMs(finding)) >= limits::kExposedRanked;
}

bool IsNoLever(const WallBase& wall, const Finding& f) {
  const WallSaving* best = BestWall(f);
  const bool no_way = best == nullptr && f.tier == Tier::kCompute && !f.rule &&
                      f.method == EstimateMethod::kRoof && !HasAction(f.path_a) &&
                      !HasAction(f.path_b) && !NeedsAnotherRecording(f);
  // Where there is a kernel to write a reproducer of, the time is worth knowing.
  const bool nothing = f.path_a.empty() && f.path_b.empty();
  if (no_way && (nothing || PercentOf(wall, f.exclusive_ms) < limits::kNoWayShare)) return true;
  const double ms = best == nullptr ? 0 : std::max(best->ms.mid, best->after_others_ms);
  return f.category == "elementwise" && !f.rule && f.method == EstimateMethod::kRoof &&
         PercentOf(wall, ms) < limits::kSliceShare;
}

Range SharesOf(const WallBase& wall, const Range& ms) {
  const double longest = wall.of_unrecorded ? wall.unrecorded_ms->high : wall.wall_ms;
  Range shares = Scaled(ms, 100 / wall.wall_ms);
  shares.high = std::max(shares.mid, 100 * ms.high / std::max(wall.wall_ms, longest));
  return shares;
}

void ClassifyByWall(Analysis* analysis) {
  const WallBase& wall = analysis->wall;
  for (Finding& f : analysis->findings) {
    // Of work that nothing recorded nobody knows how much can go elsewhere; most of it must stay
    // before half of the saving does not come.
    if (f.wall_a && Advises(f.path_b, Advice::kFindHostWork)) {
      f.wall_a->ms.low = std::min(f.wall_a->ms.low, f.wall_a->ms.mid / 2);
      f.savings_ms = f.wall_a->ms;
      f.impact_percent = SharesOf(wall, f.wall_a->ms);
    }
    const WallSaving* best = BestWall(f);
    if (f.one_off) {
      f.priority = PriorityClass::kLow;
      if (2 * best->ms.mid > wall.recorded_ms)
        f.priority = PriorityOfSaving(best->ms.mid / wall.recorded_ms * 100);
      continue;
    }
    if (best != nullptr) {
      f.minor =
          PercentOf(wall, std::max(best->ms.mid, best->after_others_ms)) < limits::kMinorShare;
      f.priority = PriorityOfSaving(PercentOf(wall, best->after_others_ms));
      continue;
    }
    const bool sized = f.subject == "communication" || f.rule;
    f.minor = !sized || PercentOf(wall, f.exclusive_ms) < limits::kHostShareMin;
    f.priority =
        RankedBySize(wall, f) ? PriorityOfSaving(PercentOf(wall, SizeMs(f))) : PriorityClass::kLow;
  }
}

}  // namespace jarvis::findings
