#include "findings/one/wall_savings.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/number_text.h"
#include "base/parallel.h"
#include "findings/one/analysis.h"
#include "findings/one/call_excess.h"
#include "findings/one/estimates.h"
#include "findings/one/thresholds.h"
#include "findings/one/wall_classes.h"
#include "findings/one/wall_order.h"
#include "findings/one/wall_plan.h"
#include "session/trace_frames.h"
#include "trace/by_name.h"

namespace jarvis::findings {
namespace {

using Changes = std::vector<analysis::Change>;

double PartOf(double saved_ms, double time_ms) {
  return time_ms > 0 ? std::clamp(saved_ms / time_ms, 0.0, 1.0) : 0;
}

bool HappensOnce(const Finding& finding) {
  return finding.host != nullptr && finding.host->once;
}

class WallAsker {
 public:
  WallAsker(const trace::EventStore& events, const analysis::Simulation& simulation,
            const TimeScope& scope, const WallGround& ground, Analysis* analysis)
      : events_(events),
        simulation_(simulation),
        scope_(scope),
        quick_(ground.quick),
        slow_(ground.slow),
        behind_(ground.behind),
        analysis_(*analysis),
        excess_(events, analysis->findings) {
    analysis->wall = ground.wall;
  }

  void Run() {
    if (!analysis_.wall.known) return;
    std::vector<Finding>& all = analysis_.findings;
    std::vector<std::optional<WayOut>> best(all.size());
    ParallelFor(std::min(all.size(), static_cast<std::size_t>(limits::kFindingsAsked)), 0,
                [&](std::size_t i) { best[i] = AskBoth(&all[i]); });
    WallOrder order = OrderFindings(analysis_, simulation_, best);
    AskForHostThen(order);
    for (const Placed& one : order.placed)
      analysis_.findings[one.at].way = std::make_shared<const WayOut>(std::move(*best[one.at]));
    Arrange(order.placed);
    ClassifyByWall(&analysis_);
  }

 private:
  // What savings are beyond. REQUIRES: the wall time is known.
  const analysis::GivenChanges& given() const { return *analysis_.wall.given; }
  bool Shows(double ms) const { return ms >= limits::kHostShareMin / 100 * analysis_.wall.wall_ms; }
  Changes InScope(const Changes& changes) const {
    return scope_.Of(simulation_.recorded(), changes);
  }
  Changes InScope(const Finding& finding, const Changes& changes) const {
    return excess_.Spare(finding, InScope(changes));
  }

  // Of a path's remedies: what they do to the operations' GPU work, as the finding estimates it.
  std::optional<WayOut> OfEstimate(const Finding& finding) const {
    if (!finding.savings_ms || finding.savings_ms->mid <= 0) return std::nullopt;
    analysis::ScaleGpu scale;
    const auto take = [&](const std::vector<trace::EventIndex>& gpu, double part) {
      if (part <= 0) return;
      scale.events.insert(scale.events.end(), gpu.begin(), gpu.end());
      scale.factors.insert(scale.factors.end(), gpu.size(), 1 - part);
    };
    for (const std::string& member : finding.members) {
      if (finding.tier == Tier::kFusion) {
        for (const FusionCandidate& candidate : analysis_.fusion.candidates) {
          if (candidate.id == member && candidate.savings_ms)
            take(candidate.gpu, PartOf(candidate.savings_ms->mid, candidate.total_us / 1000));
        }
      } else if (const Operation* operation = analysis_.FindOperation(member)) {
        if (operation->savings_ms)
          take(operation->gpu, PartOf(operation->savings_ms->mid, operation->gpu_us / 1000));
      }
    }
    if (finding.category == "multi_kernel") take(MovingWork(finding), MovedPart(finding));
    if (scale.events.empty()) return std::nullopt;
    WayOut way{InScope(finding, {std::move(scale)}),
               finding.savings_ms->low / finding.savings_ms->mid,
               finding.savings_ms->high / finding.savings_ms->mid, std::nullopt};
    if (finding.category == "multi_kernel") way.cap_ms = MovedMs(finding);
    return way;
  }

  // Pinned memory: faster, and the host waits for no upload. What is downloaded is waited for where
  // it is read.
  std::optional<WayOut> OfPinning(const Finding& finding) const {
    if (finding.category != "multi_kernel" || !Advises(finding.path_b, Advice::kPinnedCopies))
      return std::nullopt;
    analysis::PinCopies pin;
    for (const trace::EventIndex copy : MovingWork(finding)) {
      if (!scope_.IsForeign(copy)) pin.copies.push_back(copy);
    }
    WayOut way{InScope({pin}), 1, 1, MovedMs(finding)};
    // The host stands in a call as long as its copy lasts, and while it is staged.
    *way.cap_ms = std::max(*way.cap_ms, HeldMs(simulation_.recorded(), way.changes));
    // From pinned memory they still take as long as the bus does.
    const Range left = PinnedMs(simulation_.recorded(), way.changes);
    const double most = std::max(0.0, *way.cap_ms - left.low);
    if (most > 0) way.low_part = std::max(0.0, *way.cap_ms - left.high) / most;
    way.cap_ms = most;
    if (PinsOnce(finding) && !HasAction(finding.path_a)) way.low_part = 0;
    return way;
  }
  // A buffer that is used once takes about as long to pin as it spares.
  bool PinsOnce(const Finding& finding) const {
    return Advises(finding.path_b, Advice::kPinnedCopies) &&
           std::ranges::any_of(analysis_.multi_kernel.copies, [&](const CopyGroup& group) {
             return group.happens_once() &&
                    finding.subject.starts_with(DirectionText(group.direction));
           });
  }
  // What nothing hides of it: of several GPUs the wall time, not the sum.
  double MovedMs(const Finding& finding) const {
    const ledger::WallBook& wall = analysis_.frames->books.wall;
    const bool inside = finding.subject.starts_with(DirectionText(CopyDirection::kOnDevice));
    const double line =
        finding.subject == "communication"
            ? MillisOf(wall.communication_ns())
            : MillisOf(wall.Of(inside ? ledger::WorkKind::kCopy : ledger::WorkKind::kHostCopy));
    return std::min(finding.exclusive_ms, line);
  }

  // The work that a finding about communication or copies is about.
  std::vector<trace::EventIndex> MovingWork(const Finding& finding) const {
    const bool communication = finding.subject == "communication";
    analysis::WorkClasses classes(events_, analysis::Communicators::kAll);
    trace::ByName<bool> same_direction(events_, [&](std::string_view name) {
      return finding.subject.starts_with(DirectionText(DirectionOf(name)));
    });
    std::vector<trace::EventIndex> found;
    for (const analysis::GpuWork& work : simulation_.recorded().works) {
      const bool fits = communication
                            ? classes.Of(work.event) == analysis::WorkClass::kCommunication
                            : events_[work.event].kind == trace::EventKind::kMemcpy &&
                                  same_direction.Of(work.event);
      if (fits) found.push_back(work.event);
    }
    return found;
  }
  // Of what nothing hides: the part that other work hides already costs no time.
  static double MovedPart(const Finding& finding) {
    return PartOf(finding.savings_ms->mid, finding.exclusive_ms);
  }

  // The margins of a replay are parts of all that was recorded, savings are of some of it.
  double LowOf(const analysis::Outcome& outcome) const {
    if (outcome.before_ms <= analysis_.wall.wall_ms) return outcome.low_ms;
    const double part = analysis_.wall.wall_ms / outcome.before_ms;
    return outcome.read_low_ms - part * (outcome.read_low_ms - outcome.low_ms);
  }

  // Alone. The margins of a replay are those of its wall time: no change saves more than it takes
  // away, whatever they are.
  WallSaving Ask(const analysis::GivenChanges& given, const WayOut& way) const {
    const analysis::Outcome outcome = simulation_.WhatIf(given, way.changes);
    const double cap = std::max(0.0, way.cap_ms.value_or(outcome.gpu_ms + outcome.host_ms));
    const auto within = [](double ms, double most) { return std::clamp(ms, 0.0, most); };
    WallSaving saving;
    saving.ms.mid = within(outcome.saved_ms, std::min(cap, analysis_.wall.wall_ms));
    saving.ms.low = within(LowOf(outcome) * way.low_part, saving.ms.mid);
    // Faster GPU work alone is bound by its time already.
    const double room_ms = ScalesGpuAlone(way)
                               ? analysis_.wall.wall_ms
                               : MostSaved(analysis_.wall, outcome.gpu_ms * way.high_part);
    double most = std::min(cap * way.high_part, room_ms);
    if (way.high_part > 1 && !way.cap_ms) {
      const analysis::RemovedTime gone =
          simulation_.Removed(given, Stronger(way.changes, way.high_part));
      most = std::clamp(gone.gpu_ms + gone.host_ms, saving.ms.mid, std::max(saving.ms.mid, most));
    }
    saving.ms.high = std::max(saving.ms.mid, within(outcome.high_ms * way.high_part, most));
    return saving;
  }

  // What is left of a saving if recording cost the host all that it may have: not less than what
  // goes of the host time that the change takes away, unless the GPU binds then. That it may bind
  // sooner is said beside savings.
  double WithoutRecording(double saved_ms, const WayOut& way) const {
    const double inside_ms = simulation_.Removed(given(), way.changes).host_ms -
                             simulation_.Removed(quick_, way.changes).host_ms;
    const double quick_ms = Ask(quick_, way).ms.mid;
    if (GpuBindsUnrecorded(analysis_.wall)) return quick_ms;
    return std::max({0.0, saved_ms - std::max(0.0, inside_ms), quick_ms});
  }

  // The same of work that takes its launches along, where these are most of what goes. Of GPU time
  // that goes, and that the recorded host hides, the upper end is what shows of it otherwise.
  WallSaving AskOfGpu(const WayOut& way) const {
    WallSaving saving = Ask(given(), way);
    if (!analysis_.wall.low_without_recording) return saving;
    const analysis::RemovedTime removed = simulation_.Removed(given(), way.changes);
    if (saving.ms.mid < limits::kShownPart * removed.gpu_ms)
      RaiseTo(Ask(quick_, way).ms.mid, &saving);
    if (!ScalesGpuAlone(way) && removed.host_ms > removed.gpu_ms)
      LowerTo(WithoutRecording(saving.ms.mid, way), &saving);
    if (!ScalesGpuAlone(way)) HeightenTo(AskSlow(way), &saving);
    return saving;
  }

  // What the host takes is inflated by recording it: the least saving is that of a host without,
  // and of the surest part of the change.
  WallSaving AskOfHost(const Finding& finding, const WayOut& way) const {
    WallSaving saving = Ask(given(), way);
    if (!finding.host->least.empty()) {
      WayOut least = way;
      least.changes = InScope(finding, finding.host->least);
      // That their ops' own time goes as well is sure only once they are gone.
      if (finding.host->kind == HostCauseKind::kWaits && way.cap_ms)
        least.cap_ms = std::min(*way.cap_ms, IdleMs(analysis_, *finding.host));
      saving.ms.low = std::min(saving.ms.mid, Ask(given(), least).ms.low);
    }
    if (way.cap_ms && saving.ms.mid >= *way.cap_ms)
      saving.ms.low = std::min(saving.ms.low, LeastAtBound(saving.ms.mid));
    saving.ms.low *= NamedPart(*finding.host);
    HeightenTo(AskBehind(way), &saving);
    if (!finding.host->most.empty()) {
      const WayOut most{InScope(finding, finding.host->most), 1, 1, HostRoomMs(finding)};
      HeightenTo(std::max({Ask(given(), most).ms.high, AskBehind(most), AskSlow(most)}), &saving);
    }
    if (!analysis_.wall.low_without_recording) return saving;
    LowerTo(WithoutRecording(saving.ms.mid, way), &saving);
    HeightenTo(AskSlow(way), &saving);
    const WallBase& wall = analysis_.wall;
    if (TellsUnrecorded(wall) && finding.host->gpu_ms <= 0 && !finding.host->gone) {
      // The GPU's own work stays, of the longest unit that there may be.
      const double most = std::max(0.0, wall.unrecorded_ms->high - wall.gpu_own_ms);
      saving.ms = Within(saving.ms, {most, most, most});
    }
    return saving;
  }

  static bool RemovesWaits(const Changes& changes) {
    return std::ranges::any_of(changes, [](const analysis::Change& one) {
      return std::holds_alternative<analysis::RemoveWaits>(one);
    });
  }
  // Behind work launched before the recording the GPU's own work is all that stays: communication
  // may be hidden again.
  double RoomBehindMs(const Changes& changes) const {
    const WallBase& wall = analysis_.wall;
    if (!RemovesWaits(changes) || behind_.wall_us.empty() || wall.of_unrecorded) return 0;
    return std::max(0.0, wall.wall_ms - wall.gpu_own_ms);
  }
  // A first step that waits for work of the step before it, which was launched before the
  // recording, loses its lead as all others do: what is saved if that work stays.
  double AskBehind(WayOut way) const {
    way.cap_ms = RoomBehindMs(way.changes);
    return *way.cap_ms > 0 ? Ask(behind_, way).ms.mid : 0;
  }

  // The most that is saved if recording cost the host as little as it may have.
  double AskSlow(const WayOut& way) const {
    return analysis_.wall.of_unrecorded ? Ask(slow_, way).ms.high : 0;
  }

  // Of a path that has a target of its own.
  WayOut OfChange(const Finding& finding, const Change& change) const {
    WayOut way;
    if (change.exact.empty()) {
      analysis::ScaleGpu scale;
      for (const Change::Part& part : change.parts) {
        scale.events.insert(scale.events.end(), part.gpu.begin(), part.gpu.end());
        scale.factors.insert(scale.factors.end(), part.gpu.size(),
                             1 - std::clamp(part.saved_part.mid, 0.0, 1.0));
      }
      way.changes = InScope(finding, {std::move(scale)});
    } else {
      way.changes = InScope(finding, change.exact);
    }
    if (change.savings_ms.mid > 0) {
      way.low_part = change.savings_ms.low / change.savings_ms.mid;
      way.high_part = change.savings_ms.high / change.savings_ms.mid;
    }
    return way;
  }

  // What is in no steady step is told by what the recording would take without; of one-time work
  // the base of time knows how long it took.
  void AskOnce(Finding* finding) const {
    if (finding->host->kind == HostCauseKind::kFirstCalls) {
      const double all = finding->time_ms;
      return SaveOnce(finding, {all, all, all});
    }
    const analysis::Outcome outcome = simulation_.WhatIf(finding->host->changes);
    const double most = finding->time_ms;
    const double mid = std::clamp(outcome.saved_ms, 0.0, most);
    SaveOnce(finding,
             {std::clamp(outcome.low_ms, 0.0, mid), mid, std::clamp(outcome.high_ms, mid, most)});
  }
  void SaveOnce(Finding* finding, const Range& ms) const {
    WallSaving saving;
    saving.ms = ms;
    saving.after_others_ms = ms.mid;
    finding->one_off = true;
    finding->wall_a = saving;
    finding->savings_ms = saving.ms;
    finding->impact_percent = Scaled(saving.ms, 100 / analysis_.wall.recorded_ms);
  }

  std::optional<WayOut> AskHost(Finding* finding) const {
    if (HappensOnce(*finding)) {
      AskOnce(finding);
      return std::nullopt;
    }
    WayOut way{InScope(*finding, finding->host->changes), 1, 1, MostOfHost(analysis_, *finding)};
    const bool alone = !HasAction(finding->path_a);
    if (const auto ahead = AheadOf(analysis_, *finding); ahead && alone) way.cap_ms = ahead->high;
    finding->wall_a = AskOfHost(*finding, way);
    Leave(finding->host->left_ms, &way, &finding->wall_a->ms);
    const double room = HostRoomMs(*finding);
    way.cap_ms = std::min(way.cap_ms.value_or(room), room);
    finding->wall_a->ms = Within(finding->wall_a->ms, {room, room, room});
    finding->savings_ms = finding->wall_a->ms;
    finding->impact_percent = SharesOf(analysis_.wall, finding->wall_a->ms);
    return way;
  }

  // Nothing the host does faster saves more than the time in which the GPU has nothing to do; waits
  // that go may take their copies along, and checks what they compute.
  double HostRoomMs(const Finding& finding) const {
    // What goes together with its GPU work saves that, too.
    const bool takes_gpu =
        std::ranges::any_of(finding.host->changes, [](const analysis::Change& one) {
          return std::holds_alternative<analysis::ScaleGpu>(one);
        });
    if (takes_gpu) return MostOfHost(analysis_, finding);
    const ledger::WallBook& wall = analysis_.frames->books.wall;
    const bool waits = finding.host->kind == HostCauseKind::kWaits || !finding.host->most.empty();
    const double room_ms =
        MillisOf(wall.total_idle_ns() + (waits ? wall.Of(ledger::WorkKind::kHostCopy) : 0)) +
        finding.host->gpu_ms;
    const Changes& most = finding.host->most;
    return std::max(room_ms, RoomBehindMs(most.empty() ? finding.host->changes : most));
  }

  // Both ways; returns the one that saves more.
  std::optional<WayOut> AskBoth(Finding* finding) const {
    if (finding->host != nullptr) {
      const std::optional<WayOut> way = AskHost(finding);
      if (HasAction(finding->path_b)) finding->wall_b = finding->wall_a;
      if (const auto ahead = AheadOf(analysis_, *finding); ahead && finding->wall_b)
        finding->wall_b->ms = Within(finding->wall_b->ms, *ahead);
      if (!HasAction(finding->path_a) && finding->wall_b) finding->wall_a.reset();
      return way;
    }
    // A rule's row has words for its paths; elsewhere a path that nobody can take saves nothing.
    const bool ruled = finding->rule.has_value();
    if (finding->change_a || finding->change_b) {
      std::optional<WayOut> a, b;
      if (finding->change_a && (ruled || HasAction(finding->path_a)))
        finding->wall_a = AskOfGpu(*(a = OfChange(*finding, *finding->change_a)));
      if (finding->change_b && (ruled || HasAction(finding->path_b)))
        finding->wall_b = AskOfGpu(*(b = OfChange(*finding, *finding->change_b)));
      if (!a && !b) return std::nullopt;
      const bool first = a && (!b || finding->wall_a->ms.mid >= finding->wall_b->ms.mid);
      return first ? a : b;
    }
    if (finding->subject == "communication" && !finding->savings_ms) Bound(finding);
    std::optional<WayOut> way = OfPinning(*finding);
    if (!way) way = OfEstimate(*finding);
    if (!way) return std::nullopt;
    const WallSaving saving = AskOfGpu(*way);
    // What pinned memory saves beyond the copies is what the host stands in their calls for.
    const bool uploads = finding->subject.starts_with(DirectionText(CopyDirection::kToDevice));
    if (uploads && saving.ms.high > finding->OwnExclusiveMs()) {
      finding->patterns.front().facts.push_back(
          NumberFact("calls_ms", HeldMs(simulation_.recorded(), way->changes), "ms"));
    }
    const bool half = Advises(finding->path_a, Advice::kHalveUploads) ||
                      Advises(finding->path_a, Advice::kShareUploads);
    if (HasAction(finding->path_a)) finding->wall_a = half ? Ask(given(), HalfOf(*way)) : saving;
    if (HasAction(finding->path_b)) finding->wall_b = saving;
    // Nor does the trace tell what else fills the memory of the GPU.
    const bool unsure = PinsOnce(*finding) || Advises(finding->path_b, Advice::kKeepOnDevice);
    if (finding->wall_b && unsure) finding->wall_b->ms.low = 0;
    return finding->wall_a || finding->wall_b ? way : std::nullopt;
  }

  // What of communication is waiting for others is not known; without all of it a step would be
  // this much shorter, until the host binds.
  void Bound(Finding* finding) const {
    DropVainSplits(finding);
    analysis::ScaleGpu none;
    none.events = MovingWork(*finding);
    none.factors = {0};
    const double saved = simulation_.Saved(given(), InScope({none}));
    const WallBase& wall = analysis_.wall;
    const double most = std::min({finding->exclusive_ms, wall.wall_ms - wall.host_floor_ms,
                                  MostOfExchange(analysis_, *finding)});
    finding->bound_ms = std::clamp(saved, 0.0, most);
    const Changes both = InScope({std::move(none), NoHost()});
    // The rest of the GPU's work stays.
    finding->joint_ms = std::clamp(simulation_.Saved(given(), both), *finding->bound_ms,
                                   std::max(*finding->bound_ms, wall.wall_ms - wall.gpu_own_ms));
  }

  analysis::ScaleHost NoHost() const {
    const analysis::TimeSpan frame = analysis_.frames->frames.frame;
    return {{{analysis::kAllTracks, frame.start, frame.end}}, 0};
  }

  void AskForHostThen(const WallOrder& order) const {
    constexpr double kMuch = 0.2;  // of the wall time: then the GPU may leave the host behind
    if (order.placed.empty()) return;
    const Placed& first = order.placed.front();
    const bool faster = analysis_.findings[first.at].host == nullptr &&
                        first.after_ms >= kMuch * analysis_.wall.wall_ms;
    if (!faster) return;
    const std::vector<Changes> no_host = {InScope({NoHost()})};
    analysis_.wall.host_then_ms =
        std::max(0.0, simulation_.SavedAfter(order.done, no_host).front());
  }

  // Halves of a batch that together compute that much longer than the whole hide nothing.
  void DropVainSplits(Finding* finding) const {
    if (PercentOf(analysis_.wall, MostHidden(analysis_, *finding)) >= limits::kFindingMin) return;
    const auto splits = [](const Remedy& one) {
      return one.advice == Advice::kOverlapMicroBatches;
    };
    std::erase_if(finding->path_a, splits);
    std::erase_if(finding->path_b, splits);
  }

  // What a change saves beyond others lies in the range that it may save alone, unless it hardly
  // shows before them.
  void Widen(double after_ms, Finding* f) const {
    const bool ahead = AheadOf(analysis_, *f).has_value();
    for (std::optional<WallSaving>* saving : {&f->wall_a, &f->wall_b}) {
      if (ahead && saving == &f->wall_b) continue;
      const bool at_once = *saving && 2 * (*saving)->unrecorded_ms >= after_ms;
      const bool within = *saving && ((*saving)->ms.mid * 1.5 >= after_ms || at_once);
      if (within) (*saving)->ms.high = std::max((*saving)->ms.high, after_ms);
    }
  }

  // Where the host sets the pace, what makes kernels alone shorter saves next to nothing of the
  // step.
  bool IsHeldUp(const Finding& f) const {
    const WallBase& wall = analysis_.wall;
    constexpr double kNothing = 0.05;  // of the GPU's time that goes
    const bool host_binds = wall.host_floor_ms > wall.gpu_floor_ms;
    const bool kernels = f.host == nullptr && f.tier == Tier::kCompute && f.savings_ms.has_value();
    return host_binds && kernels && BestWall(f)->ms.mid <= kNothing * f.savings_ms->mid;
  }

  // What hardly shows before others are done is not worth more alone under any reading of the
  // trace: the host sets the pace in all of them. Of what spares the host that is not so where the
  // recorded one is slower.
  void HoldBack(Finding* f) const {
    if (analysis_.wall.of_unrecorded && f->host != nullptr) return;
    for (std::optional<WallSaving>* saving : {&f->wall_a, &f->wall_b}) {
      if (*saving) (*saving)->ms.high = std::max((*saving)->ms.mid, (*saving)->unrecorded_ms);
    }
  }

  // What shows at once without the recorder is worth no more after others than alone.
  void HoldAfter(Finding* f) const {
    for (std::optional<WallSaving>* saving : {&f->wall_a, &f->wall_b}) {
      if (*saving)
        (*saving)->after_others_ms = std::min((*saving)->after_others_ms, (*saving)->ms.high);
    }
  }

  // The id of the finding behind which the one at `k` shows. What is not kept hides nothing: the
  // next one before it that is about the host, else the first.
  static std::string BehindWhat(const std::vector<Placed>& order, std::size_t k,
                                const std::vector<std::string>& ids) {
    const std::size_t last = order[k].behind.value_or(k == 0 ? 0 : k - 1);
    for (std::size_t i = last + 1; i-- > 0;) {
      if (!ids[i].empty() && order[i].host) return ids[i];
    }
    return "f1";
  }

  // In their order: what saves, what happens once, what has no saving. What is worth nothing on the
  // clock, whatever else is done, is no finding about the host. Of what shows only later, the
  // finding about the host that it shows behind is the reason, else the first.
  void Arrange(const std::vector<Placed>& order) {
    std::vector<Finding>& all = analysis_.findings;
    std::vector<Finding> kept;
    std::vector<bool> taken(all.size(), false);
    const auto take = [&](std::size_t i) {
      taken[i] = true;
      kept.push_back(std::move(all[i]));
    };
    // Of a pass that is warm already nobody needs it first.
    const bool warm = analysis_.frames->frames.base.warm_estimated;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool much = all[i].one_off && 2 * BestWall(all[i])->ms.mid > analysis_.wall.recorded_ms;
      if (much && !warm) take(i);
    }
    const auto take_once = [&](double least_ms) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        if (!taken[i] && all[i].one_off && BestWall(all[i])->ms.mid >= least_ms) take(i);
      }
    };
    std::vector<std::string> ids(order.size());  // as they will be called; empty: not kept
    for (std::size_t k = 0; k < order.size(); ++k) {
      const double after_ms = order[k].after_ms;
      for (std::size_t i = 0; i < all.size(); ++i) {
        // What is only known to be long yields to a saving of nearly its size.
        if (taken[i] || !RankedBySize(analysis_.wall, all[i])) continue;
        if (SizeAgainstSaving(all[i]) > after_ms) take(i);
      }
      Finding& f = all[order[k].at];
      // What happens once stands before what hardly saves anything.
      const double small_ms = limits::kSmallSaving / 100 * analysis_.wall.wall_ms;
      if (std::max(after_ms, BestWall(f)->ms.mid) < small_ms) take_once(small_ms);
      for (std::optional<WallSaving>* saving : {&f.wall_a, &f.wall_b}) {
        if (*saving) (*saving)->after_others_ms = after_ms;
      }
      const double alone = BestWall(f)->ms.mid;
      // What a host that is not recorded lets show is no less for what stands before it.
      const bool at_once = 2 * BestWall(f)->unrecorded_ms >= after_ms;
      const bool hidden = Shows(after_ms) && after_ms > limits::kShowsAfter * alone && !at_once;
      // A rule's finding stands by its evidence, whatever waits for other ranks hide of it.
      if (f.host != nullptr && !f.rule && !hidden && !Shows(alone)) {
        taken[order[k].at] = true;
        continue;
      }
      if (IsHeldUp(f)) {
        HoldBack(&f);
        if (at_once) HoldAfter(&f);
      } else if (!hidden) {
        Widen(after_ms, &f);
      }
      if (hidden && !kept.empty()) {
        f.shows_after = BehindWhat(order, k, ids);
        HoldBack(&f);
        // Where the GPU then sets the pace, the host's time in calls of copies costs nothing.
        const double host_ms = MillisOf(analysis_.frames->books.host.alone_ns);
        if (Advises(f.path_b, Advice::kPinnedCopies) && host_ms < analysis_.wall.gpu_floor_ms)
          f.wall_b->after_others_ms = std::min(f.wall_b->after_others_ms, f.OwnExclusiveMs());
      }
      ids[k] = fmt::format("f{}", kept.size() + 1);
      take(order[k].at);
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!taken[i] && RankedBySize(analysis_.wall, all[i])) take(i);
    }
    take_once(0);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!taken[i]) take(i);
    }
    std::erase_if(kept, [&](const Finding& f) { return IsNoLever(analysis_.wall, f); });
    all = std::move(kept);
  }

  const trace::EventStore& events_;
  const analysis::Simulation& simulation_;
  const TimeScope& scope_;
  const analysis::GivenChanges& quick_;   // given(), without all that profiling may have cost
  const analysis::GivenChanges& slow_;    // without what it cost at the least
  const analysis::GivenChanges& behind_;  // with work launched before the recording
  Analysis& analysis_;
  const CallExcess excess_;
};

}  // namespace

void FillWallSavings(const trace::EventStore& events, const analysis::Simulation& simulation,
                     const TimeScope& scope, const WallGround& ground, Analysis* analysis) {
  WallAsker(events, simulation, scope, ground, analysis).Run();
}

}  // namespace jarvis::findings
