#include "analysis/frames/frame_facts.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "analysis/attribution/steps.h"
#include "analysis/host/runtime_calls.h"
#include "base/median.h"
#include "trace/by_name.h"
#include "trace/step_mark.h"

namespace jarvis::analysis {
namespace {

using trace::EventKind;

// A call as long as this may have loaded code; below it nobody would notice.
constexpr std::int64_t kLongLaunchNs = 1'000'000;
constexpr std::int64_t kShortQueryNs = 20'000;
// Clocks of host and GPU agree about this well.
constexpr std::int64_t kClockNs = 5'000;

class FactCollector {
 public:
  explicit FactCollector(const FrameInput& input)
      : in_(input), facts_{.events = input.events, .tree = input.tree} {}

  FrameFacts Run() {
    ChooseProcess();
    CollectGpu();
    ChooseThread();
    CollectHost();
    CollectCalls();
    FindCut();
    Extents();
    return std::move(facts_);
  }

 private:
  const trace::Event& At(EventIndex e) const { return in_.events[e]; }
  std::string_view PidOf(EventIndex e) const { return in_.events.tracks[At(e).track].pid; }

  // The launch of GPU work. External id 0 is the profiler's word for no op at all.
  EventIndex LaunchOf(EventIndex gpu) const {
    const EventIndex launch = in_.tree.parent(gpu);
    if (launch == trace::kNoEvent) return launch;
    const trace::Args& work = in_.events.args_of(gpu);
    const bool same = work.correlation != trace::kAbsent &&
                      work.correlation == in_.events.args_of(launch).correlation;
    return same || work.external_id != 0 ? launch : trace::kNoEvent;
  }

  void ChooseProcess() {
    struct Votes {
      std::uint64_t hosts = 0, launches = 0;
    };
    std::vector<Votes> of_track(in_.events.tracks.size());
    for (const EventIndex e : in_.tree.preorder())
      ++of_track[At(e).track].hosts;
    for (const EventIndex e : in_.attribution.timeline) {
      const EventIndex launch = LaunchOf(e);
      if (launch != trace::kNoEvent) ++of_track[At(launch).track].launches;
    }
    std::map<std::string_view, std::uint64_t> launches;
    std::map<std::string_view, std::uint64_t> hosts;
    for (std::size_t t = 0; t < of_track.size(); ++t) {
      const std::string_view pid = in_.events.tracks[t].pid;
      if (!in_.Has(static_cast<std::uint32_t>(t))) continue;
      if (of_track[t].hosts > 0) hosts[pid] += of_track[t].hosts;
      if (of_track[t].launches > 0) launches[pid] += of_track[t].launches;
    }
    const auto& votes = launches.empty() ? hosts : launches;
    std::uint64_t most = 0;
    std::string_view chosen;
    for (const auto& [pid, count] : votes) {
      if (count <= most) continue;
      most = count;
      chosen = pid;
    }
    facts_.process = std::string(chosen);
    // Threads of helpers have pids of their own in some traces; a second job launches.
    facts_.several_processes = launches.size() > 1;
    facts_.in_process.resize(in_.events.tracks.size());
    for (std::size_t t = 0; t < in_.events.tracks.size(); ++t)
      facts_.in_process[t] =
          in_.Has(static_cast<std::uint32_t>(t)) && in_.events.tracks[t].pid == chosen;
  }

  void CollectGpu() {
    std::vector<bool> launched_on(in_.events.tracks.size());
    for (const EventIndex e : in_.attribution.timeline) {
      const EventIndex launch = LaunchOf(e);
      if (launch != trace::kNoEvent && facts_.in_process[At(launch).track])
        launched_on[At(e).track] = true;
    }
    std::unordered_set<std::string_view> devices;
    for (std::size_t t = 0; t < launched_on.size(); ++t) {
      if (launched_on[t]) devices.insert(in_.events.tracks[t].pid);
    }
    std::vector<bool> on_device(in_.events.tracks.size());
    for (std::size_t t = 0; t < on_device.size(); ++t)
      on_device[t] = devices.empty() || devices.contains(in_.events.tracks[t].pid);
    for (const EventIndex e : in_.attribution.timeline) {
      const EventIndex launch = LaunchOf(e);
      if (launch == trace::kNoEvent) {
        if (on_device[At(e).track] && in_.Has(At(e).track))
          facts_.gpu.push_back({e, trace::kNoEvent, trace::kAbsent});
      } else if (facts_.in_process[At(launch).track] && in_.Has(At(e).track)) {
        facts_.gpu.push_back({e, launch, At(launch).ts_ns});
      }
    }
    const auto earlier = [&](const LaunchedWork& a, const LaunchedWork& b) {
      return At(a.event).ts_ns < At(b.event).ts_ns;
    };
    if (!std::is_sorted(facts_.gpu.begin(), facts_.gpu.end(), earlier))
      std::stable_sort(facts_.gpu.begin(), facts_.gpu.end(), earlier);
    TimeSet busy;
    for (const LaunchedWork& work : facts_.gpu) {
      AddInterval({At(work.event).ts_ns, At(work.event).end_ns()}, &busy);
      if (work.launch != trace::kNoEvent) facts_.launched.push_back(work);
    }
    facts_.busy = Union(std::move(busy));
    std::stable_sort(
        facts_.launched.begin(), facts_.launched.end(),
        [](const LaunchedWork& a, const LaunchedWork& b) { return a.launch_ns < b.launch_ns; });
    facts_.launched_before.push_back(0);
    for (const LaunchedWork& work : facts_.launched)
      facts_.launched_before.push_back(facts_.launched_before.back() + At(work.event).dur_ns);
  }

  void ChooseThread() {
    struct Vote {
      std::int64_t marks = 0;      // time in step marks
      std::uint64_t launches = 0;  // of GPU work
      std::int64_t rooted = 0;     // time in outermost events
      bool any = false;
    };
    std::vector<Vote> votes(in_.events.tracks.size());
    for (const EventIndex e : in_.tree.preorder()) {
      Vote& vote = votes[At(e).track];
      vote.any = true;
      if (in_.tree.parent(e) == trace::kNoEvent) vote.rooted += At(e).dur_ns;
      if (IsStepMark(e)) vote.marks += At(e).dur_ns;
    }
    for (const LaunchedWork& work : facts_.launched)
      ++votes[At(work.launch).track].launches;
    constexpr std::uint64_t kFifth = 5;  // a thread that launches less is a helper
    const std::uint64_t all = facts_.launched.size();
    const Vote* best = nullptr;
    for (std::uint32_t t = 0; t < votes.size(); ++t) {
      const Vote& vote = votes[t];
      if (!vote.any || !facts_.in_process[t]) continue;
      const bool launches = all == 0 || vote.launches * kFifth >= all;
      const auto rank = [&](const Vote& v, bool l) { return std::tuple(v.marks, l, v.rooted); };
      if (best != nullptr &&
          rank(vote, launches) <= rank(*best, all == 0 || best->launches * kFifth >= all)) {
        continue;
      }
      best = &vote;
      facts_.track = t;
    }
  }

  bool IsStepMark(EventIndex e) const {
    const EventKind kind = At(e).kind;
    if (kind != EventKind::kUserAnnotation && kind != EventKind::kCpuOp) return false;
    return trace::StepNumberOf(in_.events.name(e)).has_value();
  }

  // Threads that run ops, if any does: others look after the GPU (watchdogs ask for events) and do
  // nothing of the step.
  std::vector<bool> WorkingThreads() const {
    std::vector<bool> works(in_.events.tracks.size());
    bool any = false;
    for (const EventIndex e : in_.tree.preorder()) {
      if (At(e).kind != EventKind::kCpuOp) continue;
      works[At(e).track] = true;
      any = true;
    }
    if (!any) works.assign(works.size(), true);
    return works;
  }

  // Communication between hosts, which has threads of its own and records only its scope there.
  bool IsCommunication(EventIndex e) const {
    if (At(e).kind != EventKind::kUserAnnotation || At(e).track == facts_.track) return false;
    const std::string_view name = in_.events.name(e);
    return name.starts_with("gloo:") || name.starts_with("mpi:") || name.starts_with("ucc:");
  }

  // Outermost, but for a runtime thread's frames.
  bool IsAutogradNode(EventIndex e) const {
    if (At(e).kind != EventKind::kCpuOp) return false;
    const EventIndex up = in_.tree.parent(e);
    if (up != trace::kNoEvent && At(up).kind == EventKind::kCpuOp) return false;
    const std::string_view name = in_.events.name(e);
    return name.starts_with("autograd::") || name.starts_with("torch::autograd::") ||
           name.find("Backward") != std::string_view::npos;
  }

  void CollectHost() {
    const std::vector<bool> works = WorkingThreads();
    TimeSet in_ops;
    for (const EventIndex e : in_.tree.preorder()) {
      const trace::Event& event = At(e);
      if (!facts_.in_process[event.track]) continue;
      if (trace::IsLaunchCall(event.kind)) facts_.calls.push_back(e);
      const bool op = event.kind == EventKind::kCpuOp && !IsScopeName(in_.events.name(e));
      if (IsCommunication(e) || (works[event.track] && (op || trace::IsLaunchCall(event.kind))))
        AddInterval({event.ts_ns, event.end_ns()}, &in_ops);
      if (event.track != facts_.track) {
        if (IsAutogradNode(e)) facts_.autograd.push_back(e);
        continue;
      }
      facts_.on_thread.push_back(e);
      if (IsStepMark(e)) facts_.marks.push_back(e);
    }
    facts_.in_ops = Union(std::move(in_ops));
    const auto earlier = [&](EventIndex a, EventIndex b) { return At(a).ts_ns < At(b).ts_ns; };
    for (std::vector<EventIndex>* list : {&facts_.calls, &facts_.autograd, &facts_.marks}) {
      // Of one thread they are.
      if (!std::is_sorted(list->begin(), list->end(), earlier))
        std::stable_sort(list->begin(), list->end(), earlier);
    }
    facts_.marks = facts_.host_events() ? OuterMarks(in_.events, std::move(facts_.marks))
                                        : MarksOnMainStream(in_.events);
  }

  // A copy of pageable memory holds its caller until it is done, whatever its name says.
  bool Waits(EventIndex call, RuntimeKind kind) const {
    if (kind == RuntimeKind::kDeviceSync || kind == RuntimeKind::kStreamSync ||
        kind == RuntimeKind::kEventSync || IsSyncCall(in_.events.name(call))) {
      return true;
    }
    if (kind != RuntimeKind::kCopy) return false;
    const auto copies = in_.tree.GpuOf(call);
    return !copies.empty() && At(copies.back()).end_ns() <= At(call).end_ns() + kClockNs;
  }

  void CollectCalls() {
    std::vector<RuntimeKind> kinds(in_.events.strings.size(), RuntimeKind::kOther);
    std::vector<bool> known(in_.events.strings.size());
    std::unordered_set<StringId> seen;  // kernels that were launched before
    const TimeMeter busy(facts_.busy);
    facts_.allocator = FindAllocatorCalls(in_.events, facts_.calls);
    TimeSet waiting;
    TimeSet first;
    std::int64_t end = trace::kAbsent;
    for (const EventIndex call : facts_.calls) {
      const trace::Event& event = At(call);
      if (!known[event.name]) {
        known[event.name] = true;
        kinds[event.name] = RuntimeKindOf(in_.events.name(call));
      }
      const RuntimeKind kind = kinds[event.name];
      if (Waits(call, kind)) {
        facts_.waiting_calls.push_back(call);
        AddInterval({event.ts_ns, event.end_ns()}, &waiting);
      }
      const auto first_kind = FirstKindOf(call, kind, busy, &seen);
      if (!first_kind || event.ts_ns < end || facts_.allocator.Recurs(call)) continue;
      end = event.end_ns();
      facts_.first_calls.push_back(
          {call, *first_kind, event.dur_ns - busy.In({event.ts_ns, event.end_ns()})});
      first.push_back({event.ts_ns, event.end_ns()});
    }
    facts_.in_calls_that_wait = Union(std::move(waiting));
    facts_.in_first_calls = Union(std::move(first));
  }

  std::optional<FrameFacts::FirstCall::Kind> FirstKindOf(EventIndex call, RuntimeKind kind,
                                                         const TimeMeter& busy_meter,
                                                         std::unordered_set<StringId>* seen) const {
    using Kind = FrameFacts::FirstCall::Kind;
    // A short one is a question that a library asks with each call.
    if (kind == RuntimeKind::kSetUp)
      return At(call).dur_ns < kShortQueryNs ? std::nullopt : std::optional(Kind::kSetUp);
    if (kind == RuntimeKind::kAllocate || kind == RuntimeKind::kFree) return Kind::kMemory;
    bool fresh = false;
    for (const EventIndex gpu : in_.tree.GpuOf(call))
      fresh = seen->insert(At(gpu).name).second || fresh;
    const trace::Event& event = At(call);
    if (!fresh || kind != RuntimeKind::kLaunch || event.dur_ns < kLongLaunchNs) return {};
    // A launch is also long when the queue is full: then the GPU works meanwhile.
    const std::int64_t busy = busy_meter.In({event.ts_ns, event.end_ns()});
    if (busy * 2 > event.dur_ns) return {};
    return Kind::kLoadingLaunch;
  }

  // A call has its work below it, the call around it (a driver's within a runtime's) has it, or
  // their op where launches have no number of their own.
  bool HasWork(EventIndex call) const {
    if (!in_.tree.GpuBelow(call).empty()) return true;
    const EventIndex up = in_.tree.parent(call);
    if (up != trace::kNoEvent && trace::IsLaunchCall(At(up).kind) && !in_.tree.GpuOf(up).empty())
      return true;
    if (in_.events.args_of(call).correlation != trace::kAbsent) return false;
    const EventIndex op = in_.tree.Enclosing(in_.events, call, EventKind::kCpuOp);
    return op != trace::kNoEvent && !in_.tree.GpuOf(op).empty();
  }

  struct KernelLaunch {
    EventIndex call;
    bool has_work;
  };
  // Without those into a graph that is being captured, which never have any; the last first.
  std::vector<KernelLaunch> KernelLaunches() const {
    enum class Call : std::uint8_t { kOther, kLaunch, kBegin, kEnd };  // of a capture
    trace::ByName<Call> calls(in_.events, [](std::string_view name) {
      if (name.find("LaunchKernel") != std::string_view::npos) return Call::kLaunch;
      if (name.find("StreamEndCapture") != std::string_view::npos) return Call::kEnd;
      return name.find("StreamBeginCapture") != std::string_view::npos ? Call::kBegin
                                                                       : Call::kOther;
    });
    std::vector<KernelLaunch> launches;
    bool captured = false;  // a capture ends later
    for (auto call = facts_.calls.rbegin(); call != facts_.calls.rend(); ++call) {
      const Call kind = calls.Of(*call);
      if (kind == Call::kBegin || kind == Call::kEnd) captured = kind == Call::kEnd;
      if (!captured && kind == Call::kLaunch) launches.push_back({*call, HasWork(*call)});
    }
    return launches;
  }

  // By track: many launches, and none with its work.
  std::vector<bool> FindUnrecordedThreads(const std::vector<KernelLaunch>& launches) {
    constexpr std::uint64_t kMany = 20;
    struct Count {
      std::uint64_t all = 0, with_work = 0;
    };
    std::vector<Count> counts(in_.events.tracks.size());
    for (const KernelLaunch& launch : launches) {
      Count& count = counts[At(launch.call).track];
      ++count.all;
      count.with_work += launch.has_work ? 1 : 0;
    }
    std::vector<bool> unrecorded(counts.size());
    for (std::size_t t = 0; t < counts.size(); ++t) {
      if (counts[t].all < kMany || counts[t].with_work > 0) continue;
      unrecorded[t] = true;
      ++facts_.unrecorded_threads;
      facts_.unrecorded_threads_launches += counts[t].all;
    }
    return unrecorded;
  }

  // A profiler that is stopped waits for the GPU, so that each launch has its work.
  void FindCut() {
    constexpr std::uint64_t kLaunchesLeast = 2;
    if (facts_.gpu.empty()) return;
    const std::vector<KernelLaunch> all = KernelLaunches();
    const bool any = std::ranges::any_of(all, &KernelLaunch::has_work);
    const std::vector<bool> unrecorded =
        any ? FindUnrecordedThreads(all) : std::vector<bool>(in_.events.tracks.size());
    bool has_later = false;
    std::uint64_t launches = 0;
    facts_.kernel_launches = all.size();
    for (const auto& [call, has_work] : all) {
      if (has_work) {
        has_later = true;
      } else if (has_later || unrecorded[At(call).track]) {
        facts_.workless.push_back(call);
      } else {
        ++launches;
      }
    }
    std::reverse(facts_.workless.begin(), facts_.workless.end());
    if (launches < kLaunchesLeast || !has_later) return;
    std::int64_t last = At(facts_.gpu.back().event).ts_ns;
    for (const EventIndex e : in_.tree.preorder()) {
      if (facts_.in_process[At(e).track]) last = std::max(last, At(e).ts_ns);
    }
    facts_.cut = {last, launches};
  }

  // The profiler waits for the device when it is stopped: the last call of all, in no op, with
  // nothing to wait for. The end of all that is recorded before it; what passes in between is the
  // stopping. Absent: no such call.
  std::optional<std::int64_t> EndBeforeClosingSync() const {
    if (facts_.calls.empty() || facts_.busy.empty()) return std::nullopt;
    const EventIndex last = facts_.calls.back();
    const std::int64_t at = At(last).ts_ns;
    std::int64_t end = facts_.busy.back().end;
    if (RuntimeKindOf(in_.events.name(last)) != RuntimeKind::kDeviceSync || at < end ||
        in_.tree.parent(last) != trace::kNoEvent) {
      return std::nullopt;
    }
    for (const EventIndex e : in_.tree.preorder()) {
      if (e == last || !facts_.in_process[At(e).track]) continue;
      if (At(e).end_ns() > at) return std::nullopt;
      end = std::max(end, At(e).end_ns());
    }
    return end;
  }

  void Extents() {
    const auto add = [](TimeSpan* span, bool* any, const trace::Event& event) {
      span->start = *any ? std::min(span->start, event.ts_ns) : event.ts_ns;
      span->end = *any ? std::max(span->end, event.end_ns()) : event.end_ns();
      *any = true;
    };
    bool recording = false;
    bool thread = false;
    for (const EventIndex e : in_.tree.preorder()) {
      if (facts_.in_process[At(e).track]) add(&facts_.recording, &recording, At(e));
    }
    for (const EventIndex e : facts_.on_thread)
      add(&facts_.thread, &thread, At(e));
    if (facts_.cut) {
      for (TimeSpan* span : {&facts_.recording, &facts_.thread})
        span->end = std::min(span->end, std::max(span->start, facts_.cut->at_ns));
    }
    for (const LaunchedWork& work : facts_.gpu)
      add(&facts_.recording, &recording, At(work.event));
    if (const auto end = EndBeforeClosingSync(); end && !facts_.cut)
      facts_.worked = TimeSpan{facts_.recording.start, *end};
    if (in_.events.dialect.recorder[0] != '\0' && !facts_.launched.empty() && !facts_.busy.empty())
      facts_.worked = TimeSpan{facts_.launched.front().launch_ns, facts_.busy.back().end};
  }

  const FrameInput& in_;
  FrameFacts facts_;
};

}  // namespace

TimeSet Within(const TimeSet& set, TimeSpan span) {
  TimeSet out;
  auto piece = std::lower_bound(set.begin(), set.end(), span.start,
                                [](const TimeSpan& s, std::int64_t at) { return s.end <= at; });
  for (; piece != set.end() && piece->start < span.end; ++piece)
    out.push_back({std::max(piece->start, span.start), std::min(piece->end, span.end)});
  return out;
}

std::pair<std::size_t, std::size_t> FrameFacts::LaunchedIn(TimeSpan span) const {
  const auto before = [](const LaunchedWork& work, std::int64_t at) { return work.launch_ns < at; };
  const auto place = [&](std::int64_t at) {
    return static_cast<std::size_t>(std::lower_bound(launched.begin(), launched.end(), at, before) -
                                    launched.begin());
  };
  const std::size_t first = place(span.start);
  return {first, std::max(first, place(span.end))};
}

TimeMeter::TimeMeter(const TimeSet& set) : set_(set) {
  std::int64_t length = 0;
  before_.reserve(set.size());
  for (const TimeSpan& piece : set) {
    before_.push_back(length);
    length += piece.end - piece.start;
  }
}

std::int64_t TimeMeter::Until(std::int64_t at) const {
  const auto after =
      std::upper_bound(set_.begin(), set_.end(), at,
                       [](std::int64_t t, const TimeSpan& piece) { return t < piece.start; });
  if (after == set_.begin()) return 0;
  const auto piece = static_cast<std::size_t>(after - set_.begin()) - 1;
  return before_[piece] + std::min(at, set_[piece].end) - set_[piece].start;
}

std::optional<std::int64_t> MedianOf(std::vector<std::int64_t> values) {
  if (values.empty()) return std::nullopt;
  return UpperMedian(std::move(values));
}

bool IsScopeName(std::string_view name) {
  return name.starts_with("ProfilerStep#") || name.starts_with("Optimizer.") ||
         name.starts_with("enumerate(DataLoader)") || name.starts_with("## ");
}

FrameFacts CollectFrameFacts(const FrameInput& input) {
  return FactCollector(input).Run();
}

}  // namespace jarvis::analysis
