#include "findings/one/idle_ledger.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/median.h"
#include "findings/one/thresholds.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using TimePiece = Interval<std::int64_t>;
using TimePieces = IntervalSet<std::int64_t>;

// Work whose launch had returned so long before the GPU ran dry was queued: the host was in time.
constexpr std::int64_t kInTimeNs = 8'000;
// Shorter gaps are what one kernel takes to follow another, launched in time or not.
constexpr std::int64_t kFollowNs = 3'000;
// A wait returns a little after the work that it waited for is done.
constexpr std::int64_t kReturnNs = 10'000;

double MsOfPieces(const TimePieces& pieces) {
  return static_cast<double>(Length(pieces)) / 1e6;
}

class LedgerMaker {
 public:
  explicit LedgerMaker(const IdleInput& input)
      : in_(input), events_(input.trace.events()), tree_(input.trace.tree()) {
    out_.section_ms.resize(in_.sections.size());
  }

  IdleLedger Run() {
    CollectPhases();
    CollectWaits();
    CollectWindows();
    Gaps();
    Launches();
    for (IdlePhase& phase : out_.phases) {
      phase.gaps = Union(std::move(phase.gaps));
      phase.late = Union(std::move(phase.late));
    }
    return std::move(out_);
  }

 private:
  struct Placed {
    TimePiece span;
    std::size_t place;
  };
  static void SortPlaced(std::vector<Placed>* all) {
    std::stable_sort(all->begin(), all->end(),
                     [](const Placed& a, const Placed& b) { return a.span.start < b.span.start; });
  }

  void CollectPhases() {
    out_.phases.emplace_back();  // what no phase has
    for (const analysis::Phase& phase : in_.frames.phases.phases) {
      if (phase.level != 0) continue;
      TimePieces spans = in_.scope.Of(phase.spans);
      if (spans.empty()) continue;
      // Those of one name are one for the reader.
      auto same = std::find_if(out_.phases.begin() + 1, out_.phases.end(),
                               [&](const IdlePhase& one) { return one.name == phase.name; });
      if (same == out_.phases.end()) {
        out_.phases.emplace_back();
        same = std::prev(out_.phases.end());
        same->name = phase.name;
        same->kind = phase.kind;
      }
      const auto place = static_cast<std::size_t>(same - out_.phases.begin());
      for (const TimePiece& span : spans)
        phase_spans_.push_back({span, place});
      same->spans.insert(same->spans.end(), spans.begin(), spans.end());
    }
    SortPlaced(&phase_spans_);
    TimePieces named;
    for (IdlePhase& phase : out_.phases) {
      phase.spans = Union(std::move(phase.spans));
      named.insert(named.end(), phase.spans.begin(), phase.spans.end());
    }
    out_.phases.front().spans = Subtract(in_.scope.spans(), Union(std::move(named)));
  }

  void CollectWaits() {
    for (std::size_t g = 0; g < in_.host.waits.size(); ++g) {
      const analysis::WaitGroup& group = in_.host.waits[g];
      // Its first call may have waited for all that ran before the recording.
      const bool own = group.cause == analysis::WaitCause::kForeign &&
                       2 * group.gpu_ns > group.total_ns - group.foreign_ns;
      if (group.cause != analysis::WaitCause::kGpuWork &&
          group.cause != analysis::WaitCause::kOwnCopy &&
          group.cause != analysis::WaitCause::kNothing && !own) {
        continue;
      }
      for (const EventIndex call : group.calls)
        waits_.push_back({{events_[call].ts_ns, events_[call].end_ns()}, call});
    }
    SortPlaced(&waits_);
  }

  // GPU time of each step, to tell its start.
  void CollectWindows() {
    for (const analysis::StepFrame& step : in_.frames.frames.steps) {
      if (step.gpu) windows_.push_back(*step.gpu);
    }
    if (windows_.empty() && in_.frames.frames.window) windows_.push_back(*in_.frames.frames.window);
  }

  void Gaps() {
    const auto& timeline = in_.trace.attribution().timeline;
    work_.assign(timeline.begin(), timeline.end());
    std::sort(work_.begin(), work_.end(), [&](EventIndex a, EventIndex b) {
      return std::pair(events_[a].ts_ns, a) < std::pair(events_[b].ts_ns, b);
    });
    TimePieces busy;
    for (const EventIndex e : work_)
      busy.push_back({events_[e].ts_ns, events_[e].end_ns()});
    busy.insert(busy.end(), in_.not_idle.begin(), in_.not_idle.end());
    busy = Union(std::move(busy));
    if (busy.empty()) return;
    TimePiece span = in_.host.threads.span;
    span.start = std::min(span.start, busy.front().start);
    span.end = std::max(span.end, busy.back().end);
    for (const TimePiece& gap : Subtract({span}, busy))
      Explain(gap);
  }

  // The launch of the work that ends a gap; kNoEvent: nothing came, or its launch is unknown.
  EventIndex LaunchAfter(const TimePiece& gap) const {
    const auto next =
        std::lower_bound(work_.begin(), work_.end(), gap.end,
                         [&](EventIndex e, std::int64_t at) { return events_[e].ts_ns < at; });
    if (next == work_.end()) return trace::kNoEvent;
    const EventIndex launch = tree_.parent(*next);
    const bool call = launch != trace::kNoEvent && trace::IsLaunchCall(events_[launch].kind);
    return call ? launch : trace::kNoEvent;
  }

  void Explain(const TimePiece& gap) {
    const EventIndex launch = LaunchAfter(gap);
    const std::int64_t at = launch == trace::kNoEvent ? gap.start : events_[launch].ts_ns;
    if (!in_.scope.Has(at)) return;
    const TimePieces left = Subtract({gap}, in_.excused);
    const double ms = MsOfPieces(left);
    out_.phases[PhaseAt(at)].excused_ms += static_cast<double>(gap.end - gap.start) / 1e6 - ms;
    if (ms <= 0) return;
    if (AddToSections(gap, left)) {
      out_.total_ms += ms;
      return;
    }
    if (launch == trace::kNoEvent) return;  // before the first launch that is known, or at the end
    out_.total_ms += ms;
    const bool queued = events_[launch].end_ns() + kInTimeNs < gap.start;
    if (queued || gap.end - gap.start < kFollowNs) return;
    IdlePhase& phase = out_.phases[PhaseAt(at)];
    phase.gaps.insert(phase.gaps.end(), left.begin(), left.end());
    if (const auto wait = WaitAt(gap.start)) {
      out_.waited[*wait] += ms;
      phase.sync_ms += ms;
      ++phase.waits;
      return;
    }
    phase.late.insert(phase.late.end(), left.begin(), left.end());
    // Of a single step idle is what lies within its GPU work, as in every other sum.
    const bool single = windows_.size() == 1;
    const double late_ms = single ? ms - MsOfPieces(Subtract(left, windows_)) : ms;
    phase.launch_ms += late_ms;
    phase.lead_ms += LostLead(launch, late_ms);
    if (const auto end_ms = EarlyEnd(gap)) {
      phase.early_ms += ms;
      phase.early_until_ms = std::max(phase.early_until_ms, *end_ms);
    }
  }

  // Had the host not waited, it would have launched by so much sooner: of idle time the part that
  // the last wait of the launching thread cost, until all of that is told.
  double LostLead(EventIndex launch, double late_ms) {
    const auto wait = WaitBefore(launch);
    if (!wait) return 0;
    const double took_ms = static_cast<double>(events_[*wait].dur_ns) / 1e6;
    double& lead_ms = out_.lead[*wait];
    const double told_ms = std::clamp(took_ms - lead_ms, 0.0, late_ms);
    lead_ms += told_ms;
    return told_ms;
  }

  std::optional<EventIndex> WaitBefore(EventIndex launch) const {
    return LastWait(events_[launch].ts_ns,
                    [&](EventIndex wait) { return events_[wait].track == events_[launch].track; });
  }

  // Parts of one gap may be of several sections.
  bool AddToSections(const TimePiece& gap, const TimePieces& left) {
    bool told = false;
    for (std::size_t i = 0; i < in_.sections.size(); ++i) {
      const TimePieces& own = in_.sections[i]->stretches;
      auto at = std::partition_point(own.begin(), own.end(),
                                     [&](const TimePiece& one) { return one.end <= gap.start; });
      for (; at != own.end() && at->start < gap.end; ++at) {
        out_.section_ms[i] += MsOfPieces(Intersect({*at}, left));
        told = true;
      }
    }
    return told;
  }

  std::size_t PhaseAt(std::int64_t host_ns) const {
    auto after =
        std::upper_bound(phase_spans_.begin(), phase_spans_.end(), host_ns,
                         [](std::int64_t at, const Placed& one) { return at < one.span.start; });
    if (after == phase_spans_.begin() || host_ns >= std::prev(after)->span.end) return 0;
    return std::prev(after)->place;
  }

  // The wait that was under way when the GPU ran dry.
  std::optional<EventIndex> WaitAt(std::int64_t at) const {
    return LastWait(at, [&](EventIndex wait) { return events_[wait].end_ns() >= at - kReturnNs; });
  }

  // The last one that began until then and fits. Waits do not nest, and those of several threads
  // are few at a time.
  template <typename Fits>
  std::optional<EventIndex> LastWait(std::int64_t at, const Fits& fits) const {
    constexpr int kLookedAt = 8;
    auto after = std::upper_bound(
        waits_.begin(), waits_.end(), at,
        [](std::int64_t moment, const Placed& one) { return moment < one.span.start; });
    for (int i = 0; i < kLookedAt && after != waits_.begin(); ++i) {
      const auto wait = static_cast<EventIndex>((--after)->place);
      if (fits(wait)) return wait;
    }
    return std::nullopt;
  }

  // Of a gap at the start of a step's GPU work: when it ends, from that start; absent: elsewhere.
  std::optional<double> EarlyEnd(const TimePiece& gap) const {
    for (const TimePiece& window : windows_) {
      const double length = static_cast<double>(window.end - window.start);
      const double at = static_cast<double>(gap.end - window.start);
      if (at >= 0 && at < limits::kRampPart * length) return at / 1e6;
    }
    return std::nullopt;
  }

  void Launches() {
    struct Seen {
      std::vector<double> to_next;
      std::vector<double> kernels;
    };
    std::vector<Seen> seen(out_.phases.size());
    std::vector<const analysis::Launch*> last(events_.tracks.size(), nullptr);
    for (const analysis::Launch& launch : in_.host.launches.all()) {
      if (!in_.scope.Has(launch.call_ns)) continue;
      const std::size_t place = PhaseAt(launch.call_ns);
      IdlePhase& phase = out_.phases[place];
      ++phase.launches;
      phase.idle_launches += launch.stream_idle ? 1 : 0;
      if (!launch.kernel) continue;
      seen[place].kernels.push_back(static_cast<double>(launch.work_ns) / 1000);
      const analysis::Launch*& before = last[launch.thread];
      if (before != nullptr && PhaseAt(before->call_ns) == place)
        seen[place].to_next.push_back(static_cast<double>(launch.call_ns - before->call_ns) / 1000);
      before = &launch;
    }
    for (std::size_t i = 0; i < seen.size(); ++i) {
      IdlePhase& phase = out_.phases[i];
      if (!seen[i].to_next.empty()) phase.launch_us = UpperMedian(std::move(seen[i].to_next));
      if (!seen[i].kernels.empty()) phase.kernel_us = UpperMedian(std::move(seen[i].kernels));
    }
  }

  const IdleInput& in_;
  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  std::vector<EventIndex> work_;     // by start
  std::vector<Placed> phase_spans_;  // by start; place in the ledger's phases
  std::vector<Placed> waits_;        // by start; the call
  TimePieces windows_;
  IdleLedger out_;
};

}  // namespace

bool IdlePhase::waits_often() const {
  return static_cast<double>(waits) >= limits::kWaitsMin &&
         static_cast<double>(launches) < limits::kLaunchesPerWait * static_cast<double>(waits);
}

IdleLedger MakeIdleLedger(const IdleInput& input) {
  return LedgerMaker(input).Run();
}

IntervalSet<std::int64_t> IdleLedger::late() const {
  IntervalSet<std::int64_t> all;
  for (const IdlePhase& phase : phases)
    all.insert(all.end(), phase.late.begin(), phase.late.end());
  return Union(std::move(all));
}

HostPlace PlaceOf(const IdlePhase& phase) {
  HostPlace place;
  place.name = phase.name;
  place.count = phase.launches;
  place.ms = phase.host_ms();
  // Idle time before its first launch may be that of others: no more than its host's is its own.
  place.idle_ms = std::min(phase.launch_ms, phase.host_ms());
  place.launch_us = phase.launch_us;
  place.kernel_us = phase.kernel_us;
  return place;
}

}  // namespace jarvis::findings
