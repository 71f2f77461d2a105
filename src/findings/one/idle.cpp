#include "findings/one/idle.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "analysis/attribution/gpu_timeline.h"
#include "analysis/host/feeding_threads.h"
#include "analysis/host/runtime_calls.h"
#include "analysis/tables/callers.h"
#include "base/median.h"
#include "base/text.h"
#include "findings/one/enum_text.h"
#include "findings/one/thresholds.h"
#include "session/trace_frames.h"
#include "session/trace_trust.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using trace::EventKind;
using trace::kNoEvent;

struct RawGap {
  std::int64_t start;
  std::int64_t end;
  EventIndex previous;
  EventIndex next;
  GapClass kind = GapClass::kUnknown;
  bool drained = false;
  EventIndex dominant = kNoEvent;
  double dominant_us = 0;
  double us() const { return trace::MicrosOf(end - start); }
};

IntervalSet<std::int64_t> BusyOf(const session::LoadedTrace& trace) {
  IntervalSet<std::int64_t> busy;
  for (const EventIndex e : trace.attribution().timeline)
    AddInterval({trace.events()[e].ts_ns, trace.events()[e].end_ns()}, &busy);
  return Union(std::move(busy));
}

class Idle {
 public:
  Idle(const session::LoadedTrace& trace, const IdleOptions& options)
      : trace_(trace),
        events_(trace.events()),
        tree_(trace.tree()),
        options_(options),
        chains_(trace.events(), trace.tree()),
        // Nobody can stop these, so that they cannot fail.
        profiling_(session::ProfilingCostOf(trace, Job()).value()),
        first_calls_(session::FirstCallsOf(trace, Job()).value()),
        descheduled_(session::DescheduledOf(trace, Job()).value()),
        frames_(session::FramesOf(trace, Job()).value()),
        feeding_(events_, tree_, BusyOf(trace)) {}

  IdleAnalysis Run() {
    if (!trace_.timeline()) return std::move(out_);
    out_.has_gpu_work = true;
    out_.window_us = trace_.timeline()->total;
    out_.idle_us = trace_.timeline()->idle;
    CountKernels();
    MapHosts();
    FindGaps();
    LeaveUnrecordedOut();
    if (out_.window_us > 0) out_.idle_percent = out_.idle_us / out_.window_us * 100;
    out_.flagged = out_.idle_percent.value_or(0) > limits::kIdleShare;
    for (RawGap& gap : gaps_) {
      if (options_.job != nullptr && options_.job->stopped()) return std::move(out_);
      Classify(&gap);
    }
    MeasureQueuedGap();
    Groups();
    Longest();
    return std::move(out_);
  }

 private:
  void CountKernels() {
    double all_us = 0;
    double graph_us = 0;
    double kernel_us = 0;
    std::uint64_t launched = 0;
    std::set<std::string_view> devices;
    for (const EventIndex e : trace_.attribution().timeline) {
      const double us = trace::MicrosOf(events_[e].dur_ns);
      all_us += us;
      devices.insert(events_.tracks[events_[e].track].pid);
      const EventIndex launch = tree_.parent(e);
      if (launch != kNoEvent) ++launched;
      if (launch != kNoEvent && analysis::IsGraphLaunch(events_.name(launch))) graph_us += us;
      if (events_[e].kind != EventKind::kKernel) continue;
      ++out_.kernels;
      kernel_us += us;
      if (us < limits::kSmallKernelUs) ++out_.short_kernels;
    }
    if (out_.kernels > 0) out_.mean_kernel_us = kernel_us / static_cast<double>(out_.kernels);
    if (all_us > 0) out_.graph_percent = graph_us / all_us * 100;
    if (out_.graph_percent >= limits::kGraphReplayUnreliable) {
      out_.unreliable_because = "graph_replay";
    } else if (launched == 0) {
      out_.unreliable_because = "no_launches";
    } else if (devices.size() > 1) {
      out_.unreliable_because = "several_devices";
    }
    out_.reliable = out_.unreliable_because.empty();
  }

  // By thread: host events by start.
  void MapHosts() {
    hosts_.resize(events_.tracks.size());
    self_us_.resize(tree_.preorder().size());
    for (const EventIndex e : tree_.preorder())
      hosts_[events_[e].track].push_back(e);
    for (std::vector<EventIndex>& hosts : hosts_) {
      const auto earlier = [&](EventIndex a, EventIndex b) {
        return events_[a].ts_ns < events_[b].ts_ns;
      };
      if (!std::is_sorted(hosts.begin(), hosts.end(), earlier))
        std::stable_sort(hosts.begin(), hosts.end(), earlier);
    }
  }

  void FindGaps() {
    const auto& work = trace_.attribution().timeline;
    std::vector<EventIndex> order(work.begin(), work.end());
    std::stable_sort(order.begin(), order.end(), [&](EventIndex a, EventIndex b) {
      return events_[a].ts_ns < events_[b].ts_ns;
    });
    if (order.empty()) return;
    first_ns_ = events_[order.front()].ts_ns;
    EventIndex last = order.front();
    std::int64_t end = events_[last].end_ns();
    for (const EventIndex e : order) {
      if (events_[e].ts_ns > end) gaps_.push_back({end, events_[e].ts_ns, last, e});
      if (events_[e].end_ns() < end) continue;
      end = events_[e].end_ns();
      last = e;
    }
  }

  // While the GPU is busy with what is not in the trace it is not idle.
  void LeaveUnrecordedOut() {
    const IntervalSet<std::int64_t>& unrecorded = frames_->frames.unrecorded;
    if (unrecorded.empty()) return;
    std::vector<RawGap> left;
    for (const RawGap& gap : gaps_) {
      const auto pieces = Subtract<std::int64_t>({{gap.start, gap.end}}, unrecorded);
      out_.unrecorded_us += trace::MicrosOf(gap.end - gap.start - Length(pieces));
      for (const Interval<std::int64_t>& piece : pieces) {
        left.push_back(gap);
        left.back().start = piece.start;
        left.back().end = piece.end;
      }
    }
    gaps_ = std::move(left);
    out_.window_us -= out_.unrecorded_us;
    out_.idle_us = std::max(0.0, out_.idle_us - out_.unrecorded_us);
  }

  bool IsCollective(EventIndex e) const {
    if (events_[e].kind != EventKind::kKernel) return false;
    const auto [known, added] = collective_.try_emplace(events_[e].name, false);
    if (added) {
      known->second =
          analysis::ClassOf(EventKind::kKernel, events_.name(e), analysis::Communicators::kAll) ==
          analysis::WorkClass::kCommunication;
    }
    return known->second;
  }

  void Classify(RawGap* gap) const {
    const EventIndex launch = tree_.parent(gap->next);
    if (launch == kNoEvent || !trace::IsLaunchCall(events_[launch].kind)) return;
    constexpr std::int64_t kQueuedNs = 8000;
    const trace::Event& call = events_[launch];
    const bool collective = IsCollective(gap->previous) || IsCollective(gap->next);
    if (call.end_ns() + kQueuedNs < gap->start || call.ts_ns < gap->start - kQueuedNs) {
      gap->kind = collective ? GapClass::kCommunicationWait : GapClass::kLaunchDelay;
      return;
    }
    HostTime host = HostTimeIn(*gap, call.track);
    if (host.traced < limits::kHostOpShare * gap->us()) AddFeeder(*gap, call.track, &host);
    gap->drained = host.sync_at_start;
    gap->dominant = host.dominant;
    gap->dominant_us = host.dominant_us;
    const double us = gap->us();
    const double latency = trace::MicrosOf(std::max<std::int64_t>(0, gap->end - call.end_ns()));
    if (host.data >= limits::kRuntimeShare * us) {
      gap->kind = GapClass::kDataLoading;
    } else if (host.set_up >= limits::kRuntimeShare * us) {
      gap->kind = GapClass::kStartUp;
    } else if (const auto trouble = TroubleIn(*gap)) {
      gap->kind = *trouble;
    } else if (host.sync_at_start || host.sync >= limits::kRuntimeShare * us) {
      gap->kind =
          IsCollective(gap->previous) ? GapClass::kCommunicationWait : GapClass::kSynchronisation;
    } else if (latency > limits::kLaunchLatencyUs && latency > 0.5 * us) {
      gap->kind = GapClass::kLaunchDelay;
    } else if (host.traced >= limits::kHostOpShare * us || us < limits::kUntracedUs) {
      gap->kind = GapClass::kHostBound;
    }
  }

  // What most of the gap is due to, if the program is not at fault.
  std::optional<GapClass> TroubleIn(const RawGap& gap) const {
    const double half_ms = gap.us() / 2000;
    const auto covers = [&](const IntervalSet<std::int64_t>& set) {
      return analysis::MsInside(set, gap.start, gap.end) >= half_ms;
    };
    if (covers(profiling_->artefact)) return GapClass::kProfilerCost;
    if (covers(descheduled_->intervals)) return GapClass::kDescheduled;
    if (covers(first_calls_->intervals)) return GapClass::kFirstCalls;
    return std::nullopt;
  }

  // What a thread did in a gap, in microseconds.
  struct HostTime {
    double data = 0, set_up = 0, sync = 0, traced = 0;
    bool sync_at_start = false;  // a waiting call was under way when the gap began
    EventIndex dominant = kNoEvent;
    double dominant_us = 0;
  };
  HostTime HostTimeIn(const RawGap& gap, std::uint32_t track) const {
    const std::vector<EventIndex>& hosts = hosts_[track];
    const auto from =
        std::upper_bound(hosts.begin(), hosts.end(), gap.start,
                         [&](std::int64_t at, EventIndex e) { return at < events_[e].ts_ns; });
    std::vector<EventIndex> inside;
    if (from != hosts.begin()) {
      for (EventIndex up = *std::prev(from); up != kNoEvent; up = tree_.parent(up)) {
        if (events_[up].track == track && events_[up].end_ns() > gap.start) inside.push_back(up);
      }
      std::reverse(inside.begin(), inside.end());
    }
    for (auto e = from; e != hosts.end() && events_[*e].ts_ns < gap.end; ++e)
      inside.push_back(*e);
    HostTime out;
    for (const EventIndex e : inside) {
      const trace::Event& event = events_[e];
      const double us =
          trace::MicrosOf(std::min(gap.end, event.end_ns()) - std::max(gap.start, event.ts_ns));
      const EventIndex up = tree_.parent(e);
      if (up != kNoEvent) self_us_[tree_.position(up)] -= us;
      self_us_[tree_.position(e)] = us;
      const HostWork work = HostWorkOf(e);
      if (work == HostWork::kLoader && !(up != kNoEvent && HostWorkOf(up) == HostWork::kLoader))
        out.data += us;
      if (!trace::IsLaunchCall(event.kind)) continue;
      if (work == HostWork::kSetUp) {
        out.set_up += us;
      } else if (work == HostWork::kSync) {
        out.sync += us;
        out.sync_at_start = out.sync_at_start || event.ts_ns < gap.start;
      }
    }
    std::sort(inside.begin(), inside.end());
    for (const EventIndex e : inside) {
      const double us = self_us_[tree_.position(e)];
      if (events_[e].kind == EventKind::kUserAnnotation) continue;
      out.traced += us;
      if (us <= out.dominant_us) continue;
      out.dominant_us = us;
      out.dominant = e;
    }
    return out;
  }

  // Where the thread itself stands still: what the one does that feeds it.
  void AddFeeder(const RawGap& gap, std::uint32_t track, HostTime* out) const {
    using State = analysis::FeederPiece::State;
    std::unordered_map<EventIndex, double> us;
    const auto pieces = feeding_.Of(track);
    auto next = std::partition_point(pieces.begin(), pieces.end(), [&](const auto& piece) {
      return piece.span.end <= gap.start;
    });
    for (; next != pieces.end() && next->span.start < gap.end; ++next) {
      const analysis::FeederPiece& piece = *next;
      const std::int64_t ns =
          std::min(gap.end, piece.span.end) - std::max(gap.start, piece.span.start);
      if (piece.state == State::kWaits) continue;
      (piece.state == State::kWorks ? out->traced : out->sync) += trace::MicrosOf(ns);
      double& of_event = us[piece.innermost] += trace::MicrosOf(ns);
      if (of_event <= out->dominant_us) continue;
      out->dominant_us = of_event;
      out->dominant = piece.innermost;
    }
  }

  enum class HostWork : std::uint8_t { kLoader, kSetUp, kSync, kOther };
  // What a name says of it, looked at once a name.
  HostWork HostWorkOf(EventIndex e) const {
    const auto [known, added] = host_work_.try_emplace(events_[e].name, HostWork::kOther);
    if (!added) return known->second;
    const std::string_view name = events_.name(e);
    if (IsLoader(name)) {
      known->second = HostWork::kLoader;
    } else if (analysis::IsSetUpCall(name) || analysis::IsMemoryCall(name)) {
      known->second = HostWork::kSetUp;
    } else if (analysis::IsSyncCall(name)) {
      known->second = HostWork::kSync;
    }
    return known->second;
  }

  static bool IsLoader(std::string_view name) {
    return name.find("DataLoader") != std::string_view::npos ||
           name.find("torch/utils/data/dataloader.py") != std::string_view::npos;
  }

  // How fast work follows work that is queued, as this trace shows it.
  void MeasureQueuedGap() {
    std::vector<double> queued;
    for (const RawGap& gap : gaps_) {
      if (gap.kind == GapClass::kLaunchDelay && gap.us() < limits::kGapUs)
        queued.push_back(gap.us());
    }
    out_.queued_gap_us = limits::kGraphGapUs;
    if (queued.empty()) return;
    out_.queued_gap_us = std::min(UpperMedian(std::move(queued)), limits::kLaunchMinUs);
  }

  static bool CanBeSaved(GapClass kind) {
    return kind != GapClass::kUnknown && kind != GapClass::kLaunchDelay &&
           kind != GapClass::kCommunicationWait && kind != GapClass::kProfilerCost &&
           kind != GapClass::kFirstCalls;
  }

  struct Sum {
    GapGroup group;
    std::vector<double> us;
  };
  void AddTo(const RawGap& gap, Sum* sum) const {
    const double us = gap.us();
    ++sum->group.count;
    sum->group.total_us += us;
    sum->group.max_us = std::max(sum->group.max_us, us);
    sum->us.push_back(us);
    if (!out_.reliable || !CanBeSaved(gap.kind)) return;
    sum->group.saved_us += std::max(0.0, us - out_.queued_gap_us);
    sum->group.saved_low_us += std::max(0.0, us - limits::kLaunchMinUs);
  }
  GapGroup Finish(Sum* sum) const {
    sum->group.median_us = UpperMedian(std::move(sum->us));
    if (out_.idle_us > 0) sum->group.percent_of_idle = sum->group.total_us / out_.idle_us * 100;
    return std::move(sum->group);
  }

  const std::string& ModulePathOf(EventIndex gpu) {
    static const std::string kNowhere;
    const EventIndex launch = tree_.parent(gpu);
    if (launch == kNoEvent) return kNowhere;
    const auto node = chains_.Of(launch);
    const auto [path, added] = paths_.try_emplace(node);
    if (added) path->second = analysis::ModulePath(chains_.Frames(node));
    return path->second;
  }

  void Groups() {
    std::map<GapClass, Sum> classes;
    std::map<std::string, Sum> modules;
    std::map<std::int64_t, Sum> steps;
    for (const RawGap& gap : gaps_) {
      AddTo(gap, &classes[gap.kind]);
      if (gap.us() < limits::kGapUs) {
        ++out_.micro_count;
        out_.micro_us += gap.us();
      } else {
        ++out_.gap_count;
      }
      AddTo(gap, &modules[ModulePathOf(gap.next)]);
      if (!trace_.steps().empty())
        AddTo(gap, &steps[analysis::StepOf(events_, tree_, trace_.steps(), gap.next)]);
    }
    for (auto& [kind, sum] : classes) {
      out_.by_class.push_back(Finish(&sum));
      out_.by_class.back().name = GapText(kind);
    }
    for (auto& [path, sum] : modules) {
      out_.by_module.push_back(Finish(&sum));
      out_.by_module.back().name = path.empty() ? "(no module)" : path;
    }
    for (auto& [step, sum] : steps) {
      out_.by_step.push_back(Finish(&sum));
      out_.by_step.back().name =
          step < 0 ? std::string("(outside steps)") : fmt::format("step {}", step);
    }
    const auto longest = [](const GapGroup& a, const GapGroup& b) {
      return a.total_us > b.total_us;
    };
    std::stable_sort(out_.by_class.begin(), out_.by_class.end(), longest);
    std::stable_sort(out_.by_module.begin(), out_.by_module.end(), longest);
  }

  std::string OpOf(EventIndex gpu) const {
    for (EventIndex up = tree_.parent(gpu); up != kNoEvent; up = tree_.parent(up)) {
      if (events_[up].kind == EventKind::kCpuOp) return std::string(events_.name(up));
    }
    return {};
  }

  void Longest() {
    std::vector<const RawGap*> order;
    for (const RawGap& gap : gaps_) {
      if (gap.us() >= limits::kGapUs) order.push_back(&gap);
    }
    const auto longer = [](const RawGap* a, const RawGap* b) {
      if (a->end - a->start != b->end - b->start) return a->end - a->start > b->end - b->start;
      return a->start < b->start;
    };
    const std::size_t most = std::min(options_.gaps_max, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end(),
                      longer);
    for (std::size_t i = 0; i < most; ++i)
      out_.gaps.push_back(Describe(*order[i]));
  }

  Gap Describe(const RawGap& raw) {
    Gap gap;
    gap.start_us = trace::MicrosOf(raw.start - first_ns_);
    gap.dur_us = raw.us();
    gap.kind = raw.kind;
    gap.drained = raw.drained;
    gap.previous_kernel = events_.name(raw.previous);
    gap.next_kernel = events_.name(raw.next);
    gap.previous_op = OpOf(raw.previous);
    gap.next_op = OpOf(raw.next);
    gap.end_ns = events_[raw.next].ts_ns;
    gap.next_uid = events_[raw.next].uid;
    gap.module_path = ModulePathOf(raw.next);
    gap.step = analysis::StepOf(events_, tree_, trace_.steps(), raw.next);
    if (raw.dominant != kNoEvent) {
      gap.dominant = events_.name(raw.dominant);
      gap.dominant_us = raw.dominant_us;
    }
    if (out_.reliable && CanBeSaved(raw.kind))
      gap.saved_us = std::max(0.0, gap.dur_us - out_.queued_gap_us);
    const EventIndex launch = tree_.parent(raw.next);
    if (launch == kNoEvent) return gap;
    constexpr std::size_t kPlacesMax = 6;
    gap.call_stack = analysis::CodePlaces(chains_.Frames(chains_.Of(launch)), kPlacesMax);
    gap.thread = trace_.track_names()[events_[launch].track].thread_name;
    return gap;
  }

  const session::LoadedTrace& trace_;
  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  const IdleOptions& options_;
  analysis::ChainTree chains_;
  const std::shared_ptr<const analysis::ProfilingCost> profiling_;
  const std::shared_ptr<const analysis::FirstCalls> first_calls_;
  const std::shared_ptr<const analysis::Descheduled> descheduled_;
  const std::shared_ptr<const session::TraceFrames> frames_;
  const analysis::FeedingThreads feeding_;
  std::vector<std::vector<EventIndex>> hosts_;  // by track
  mutable std::vector<double> self_us_;  // by place in the tree; of the gap that is looked at
  mutable std::unordered_map<StringId, bool> collective_;  // by name
  mutable std::unordered_map<StringId, HostWork> host_work_;
  std::vector<RawGap> gaps_;  // by start
  std::map<analysis::ChainTree::Node, std::string> paths_;
  std::int64_t first_ns_ = 0;
  IdleAnalysis out_;
};

}  // namespace

std::string_view GapText(GapClass kind) {
  return EnumText(
      {"host_bound", "synchronisation", "data_loading", "communication_wait", "start_up",
       "profiler_cost", "first_calls", "descheduled", "launch_delay", "unknown"},
      kind);
}

IdleAnalysis AnalyzeIdle(const session::LoadedTrace& trace, const IdleOptions& options) {
  return Idle(trace, options).Run();
}

}  // namespace jarvis::findings
