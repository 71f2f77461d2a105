#include "analysis/frames/time_frames.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "analysis/attribution/gpu_timeline.h"
#include "analysis/frames/base_work.h"
#include "analysis/frames/unseen_work.h"

namespace jarvis::analysis {
namespace {

// A step this many times as long as the middle one, or as short, is none of the usual ones.
constexpr const char* kLonger = "an outlier";
constexpr const char* kShorter = "shorter than the others";
constexpr const char* kFasterBefore = "an earlier, faster phase";
constexpr const char* kSlowerBefore = "an earlier, slower phase";
constexpr const char* kNoWholeGroup = "in no whole group";
constexpr const char* kNoEnd = "its end was not recorded";
// A step of which first calls take this share is none of the usual ones.
constexpr double kFirstCallShare = 0.2;
// Work before the last unrecorded stretch that is less than this share of all is a stray.
constexpr double kStrayShare = 0.02;

TimeSet Joined(TimeSet a, const TimeSet& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Own GPU work as sets of time by what it is.
struct WorkSets {
  TimeSet computation, communication, copies, all;
};

class FrameMaker {
 public:
  explicit FrameMaker(const FrameFacts& facts)
      : facts_(facts),
        unseen_(FindUnseenWork(facts)),
        busy_meter_(facts.busy),
        unrecorded_meter_(unseen_.unrecorded) {}

  TimeFrames Run() {
    out_.track = facts_.track;
    out_.process = facts_.process;
    out_.several_processes = facts_.several_processes;
    UnrecordedHead head = FindUnrecordedHead(facts_, unseen_.foreign);
    if (head.foreign.empty()) {
      unseen_.foreign.clear();
      unseen_.foreign_busy.clear();
    }
    out_.base = FindBaseOfTime(facts_, std::move(head), GroupUnits::kWhereTheyRecur);
    out_.foreign = unseen_.foreign;
    out_.foreign_busy = unseen_.foreign_busy;
    out_.unrecorded = unseen_.unrecorded;
    MeasureUnrecordedWaits();
    out_.launches_cut_off = facts_.cut ? facts_.cut->launches : 0;
    out_.launches_without_work = facts_.workless.size();
    out_.kernel_launches = facts_.kernel_launches;
    out_.unrecorded_threads = facts_.unrecorded_threads;
    out_.unrecorded_threads_launches = facts_.unrecorded_threads_launches;
    if (!facts_.workless.empty()) out_.first_without_work = facts_.workless.front();
    MakeSteps();
    MakeFrame();
    MakeWindow();
    SetOddStepsApart();
    out_.left_out = LeftOutWork(facts_, out_, {out_.frame.start, host_end_});
    MakeStepTime();
    AddFirstCalls();
    out_.host_only = FindHostOnly(facts_, out_.frame, out_.unrecorded);
    MeasureLaunches();
    ListWhatIsAbsent();
    return std::move(out_);
  }

 private:
  const trace::Event& At(EventIndex e) const { return facts_.events[e]; }

  WorkSets SetsOf(const std::vector<EventIndex>& work) {
    WorkSets sets;
    for (const EventIndex e : work) {
      const TimeSpan span{At(e).ts_ns, At(e).end_ns()};
      switch (classes_.Of(e)) {
        case WorkClass::kComputation: AddInterval(span, &sets.computation); break;
        case WorkClass::kCommunication: AddInterval(span, &sets.communication); break;
        case WorkClass::kMemcpy: AddInterval(span, &sets.copies); break;
      }
      AddInterval(span, &sets.all);
    }
    for (TimeSet* set : {&sets.computation, &sets.communication, &sets.copies, &sets.all})
      *set = Union(std::move(*set));
    return sets;
  }

  void MakeSteps() {
    if (!out_.base.holes.empty()) {
      for (const StepHole& hole : out_.base.holes)
        out_.unrecorded.push_back(hole.span);
      out_.unrecorded = Subtract(Union(std::move(out_.unrecorded)), facts_.busy);
    }
    for (const FoundStep& one : out_.base.host_units) {
      StepFrame step;
      step.name = one.name;
      step.number = one.number;
      step.host = one.host;
      if (facts_.cut && step.host.start < facts_.cut->at_ns)
        step.host.end = std::min(step.host.end, facts_.cut->at_ns);
      const std::vector<EventIndex> own = WorkOf(step.host);
      if (!own.empty()) FillGpu(own, &step);
      out_.steps.push_back(std::move(step));
    }
  }

  // GPU work that a step launched; without host events what began in it.
  std::vector<EventIndex> WorkOf(TimeSpan step) const {
    std::vector<EventIndex> own;
    if (facts_.host_events()) {
      const auto [first, past] = facts_.LaunchedIn(step);
      for (std::size_t at = first; at < past; ++at)
        own.push_back(facts_.launched[at].event);
      return own;
    }
    const auto first = std::partition_point(
        facts_.gpu.begin(), facts_.gpu.end(),
        [&](const LaunchedWork& work) { return At(work.event).ts_ns < step.start; });
    for (auto work = first; work != facts_.gpu.end() && At(work->event).ts_ns < step.end; ++work)
      own.push_back(work->event);
    return own;
  }

  void FillGpu(const std::vector<EventIndex>& own, StepFrame* step) {
    const WorkSets sets = SetsOf(own);
    step->gpu = TimeSpan{sets.all.front().start, sets.all.back().end};
    step->gpu_events = own.size();
    step->busy_ns = Length(sets.all);
    step->computation_ns = Length(sets.computation);
    step->exposed_comm_ns = Length(Subtract(sets.communication, sets.computation));
    step->exposed_copy_ns =
        Length(Subtract(Subtract(sets.copies, sets.computation), sets.communication));
    step->unrecorded_ns = unrecorded_meter_.In(*step->gpu);
    step->others_ns = busy_meter_.In(*step->gpu) - step->busy_ns;
    step->lag_begin_ns = step->gpu->start - step->host.start;
    step->lag_end_ns = step->gpu->end - step->host.end;
  }

  // Work of the frame: whatever its host time launched, and what has no launch though it is not
  // foreign.
  std::vector<EventIndex> OwnWork(TimeSpan host) const {
    std::vector<EventIndex> own;
    std::vector<EventIndex> foreign = unseen_.foreign;
    std::sort(foreign.begin(), foreign.end());
    for (const LaunchedWork& work : facts_.gpu) {
      const bool unlinked = work.launch == trace::kNoEvent;
      const std::int64_t at = unlinked ? At(work.event).ts_ns : work.launch_ns;
      if (at < host.start || at >= host.end) {
        if (facts_.host_events() || !out_.steps.empty()) continue;
      }
      if (unlinked && std::binary_search(foreign.begin(), foreign.end(), work.event)) continue;
      own.push_back(work.event);
    }
    return own;
  }

  void MakeFrame() {
    out_.frame = facts_.without_steps();
    if (!out_.steps.empty()) {
      out_.frame = {out_.steps.front().host.start, out_.steps.back().host.end};
      for (const StepFrame& step : out_.steps)
        out_.frame.end = std::max(out_.frame.end, step.host.end);
    }
    host_end_ = out_.frame.end;
    const std::vector<EventIndex> own = OwnWork(out_.frame);
    out_.gpu_events = own.size();
    sets_ = SetsOf(own);
    computation_meter_.emplace(sets_.computation);
    if (!sets_.all.empty()) {
      out_.frame.end = std::max(out_.frame.end, sets_.all.back().end);
      own_ = TimeSpan{sets_.all.front().start, sets_.all.back().end};
    }
    FindForeignWaits();
    FindLost();
    out_.whole = BalanceOf(out_.frame, lost_, true);
    out_.steady = BalanceOfBase();
  }

  // What others' work took away from the frame: host waits for it before anything was launched, own
  // work that was launched and could not start because of it, and unrecorded stretches since. While
  // others' work runs and the host goes on undisturbed, nothing is lost.
  void FindLost() {
    for (const StepHole& hole : out_.base.holes)
      lost_.push_back(hole.span);
    const auto first = FirstLaunch();
    const TimeSet others = Union(Joined(out_.foreign_busy, out_.unrecorded));
    for (const TimeSpan& wait : first_waits_) {
      const TimeSet foreign = Within(out_.foreign_busy, wait);
      const std::int64_t seen = foreign.empty() ? wait.start : foreign.back().end;
      if (seen > wait.start) lost_.push_back({wait.start, seen});
      const TimeSet unrecorded = Within(out_.unrecorded, {seen, wait.end});
      lost_.insert(lost_.end(), unrecorded.begin(), unrecorded.end());
    }
    if (first && own_) {
      const TimeSpan held = MainStreamHeldUp();
      const TimeSet in_between = Within(others, held);
      // What runs at the front of the queue is one piece, its own gaps included.
      if (!in_between.empty()) {
        const std::int64_t until = in_between.back().end;
        out_.runs_ahead = IsBusyFrom(until);
        lost_.push_back({out_.runs_ahead ? out_.frame.start : held.start, until});
      }
      const TimeSet since =
          Within(out_.unrecorded, {std::max(held.end, *first), std::max(held.end, own_->end)});
      lost_.insert(lost_.end(), since.begin(), since.end());
    }
    lost_ = Union(std::move(lost_));
  }

  // Own work leaves hardly a gap from then on: what the host does before it hides behind the GPU's
  // earlier work, as it does in each step.
  bool IsBusyFrom(std::int64_t start) const {
    constexpr double kBusy = 0.9;
    const TimeSpan rest{start, own_->end};
    if (rest.end <= rest.start) return false;
    return static_cast<double>(Length(Within(sets_.all, rest))) >=
           kBusy * static_cast<double>(rest.end - rest.start);
  }

  // `taken`: what others took away from it. `ends`: what lies before the first GPU work and after
  // the last is told apart.
  Balance BalanceOf(TimeSpan span, const TimeSet& taken, bool ends) const {
    Balance out;
    out.total_ns = span.end - span.start;
    const TimeSet communication = Within(sets_.communication, span);
    out.computation_ns = computation_meter_->In(span);
    out.exposed_comm_ns = Length(Subtract(communication, sets_.computation));
    out.exposed_copy_ns =
        Length(Subtract(Subtract(Within(sets_.copies, span), sets_.computation), communication));
    TimeSet rest = Subtract({span}, sets_.all);
    TimeSet left;
    std::int64_t length = Length(rest);
    const auto take = [&](const TimeSet& what, std::int64_t* ns) {
      SubtractInto(rest, what, &left);
      std::swap(rest, left);
      *ns = length - Length(rest);
      length -= *ns;
    };
    const TimeSet others = Within(others_, span);
    const TimeSet unrecorded = Within(out_.unrecorded, span);
    const TimeSet lost = Within(taken, span);
    take(Intersect(others, lost), &out.foreign_ns);
    take(Intersect(unrecorded, lost), &out.unrecorded_ns);
    take(lost, &out.ahead_ns);
    take(Union(Joined(others, unrecorded)), &out.beside_ns);
    if (!own_) {
      out.host_before_ns = length;
      return out;
    }
    if (ends) {
      take({{std::min(span.start, own_->start), own_->start}}, &out.host_before_ns);
      take({{own_->end, std::max(span.end, own_->end)}}, &out.after_ns);
    }
    take(facts_.in_first_calls, &out.idle_first_call_ns);
    take(facts_.in_calls_that_wait, &out.idle_sync_ns);
    take(facts_.in_ops, &out.idle_host_ops_ns);
    out.idle_host_only_ns = length;
    return out;
  }

  // Nothing is lost to others in it, as it begins behind them. Of several units the first and the
  // last are like the others, whose idle time lies between two pieces of GPU work.
  Balance BalanceOfBase() const {
    Balance sum;
    for (const TimeSpan& piece : out_.base.base) {
      const Balance one = BalanceOf(piece, {}, out_.base.count == 1);
      for (std::int64_t Balance::*part :
           {&Balance::total_ns, &Balance::host_before_ns, &Balance::computation_ns,
            &Balance::exposed_comm_ns, &Balance::exposed_copy_ns, &Balance::idle_first_call_ns,
            &Balance::idle_sync_ns, &Balance::idle_host_ops_ns, &Balance::idle_host_only_ns,
            &Balance::unrecorded_ns, &Balance::foreign_ns, &Balance::ahead_ns, &Balance::beside_ns,
            &Balance::after_ns})
        sum.*part += one.*part;
    }
    return sum;
  }

  void MakeWindow() {
    if (!own_) return;
    TimeSpan window = *own_;
    const TimeSet unrecorded = Within(out_.unrecorded, window);
    const std::int64_t busy = Length(sets_.all);
    const TimeMeter meter(sets_.all);
    for (const TimeSpan& stretch : unrecorded) {
      const std::int64_t before = meter.In({own_->start, stretch.start});
      if (static_cast<double>(before) <= kStrayShare * static_cast<double>(busy))
        window.start = stretch.end;
    }
    out_.window = window;
    const TimeSet others = Subtract(Within(facts_.busy, window), sets_.all);
    out_.window_ns =
        window.end - window.start - Length(Within(out_.unrecorded, window)) - Length(others);
    const TimeSet computation = Within(sets_.computation, window);
    const TimeSet communication = Within(sets_.communication, window);
    out_.window_busy_ns = Length(Within(sets_.all, window));
    out_.window_computation_ns = Length(computation);
    out_.window_comm_ns = Length(Subtract(communication, computation));
    out_.window_copy_ns =
        Length(Subtract(Subtract(Within(sets_.copies, window), computation), communication));
  }

  void MeasureUnrecordedWaits() {
    TimeSet waits;
    for (const EventIndex call : facts_.waiting_calls)
      waits.push_back({At(call).ts_ns, At(call).end_ns()});
    const TimeSet free = Subtract(out_.unrecorded, Union(std::move(waits)));
    out_.host_waits_unrecorded_ns = Length(out_.unrecorded) - Length(free);
  }

  // Host waits before anything was launched, as far as they are for foreign work: the spaces
  // between that work included, as the host could not go on in them either.
  void FindForeignWaits() {
    const auto first = FirstLaunch();
    const TimeSpan before{out_.frame.start, first ? *first : out_.frame.end};
    TimeSet waits;
    for (const EventIndex call : facts_.waiting_calls) {
      if (At(call).ts_ns >= before.end) break;
      waits.push_back({At(call).ts_ns, At(call).end_ns()});
    }
    first_waits_ = Within(Union(std::move(waits)), before);
    others_ = facts_.busy;
    for (const TimeSpan& wait : first_waits_) {
      const TimeSet foreign = Within(out_.foreign_busy, wait);
      if (foreign.empty()) continue;
      out_.host_waits_foreign_ns += foreign.back().end - wait.start;
      others_.push_back({wait.start, foreign.back().end});
    }
    others_ = Union(std::move(others_));
  }

  // The first launch of the frame's own work.
  std::optional<std::int64_t> FirstLaunch() const {
    const auto [first, past] = facts_.LaunchedIn({out_.frame.start, host_end_});
    if (first == past) return std::nullopt;
    return facts_.launched[first].launch_ns;
  }

  // On the stream that computes most: from its first launch to its start. Copies and communication
  // on other streams may pass by what holds it up.
  TimeSpan MainStreamHeldUp() {
    struct Stream {
      std::int64_t computation_ns = 0;
      std::int64_t busy_ns = 0;
      TimeSpan held{};
    };
    std::map<std::uint32_t, Stream> streams;
    const auto [first, past] = facts_.LaunchedIn({out_.frame.start, host_end_});
    for (std::size_t i = first; i < past; ++i) {
      const LaunchedWork& work = facts_.launched[i];
      const trace::Event& event = At(work.event);
      const auto [found, added] = streams.try_emplace(event.track);
      if (added) found->second.held = {work.launch_ns, std::max(work.launch_ns, event.ts_ns)};
      found->second.busy_ns += event.dur_ns;
      if (classes_.Of(work.event) == WorkClass::kComputation)
        found->second.computation_ns += event.dur_ns;
    }
    const Stream* most = nullptr;
    for (const auto& [track, stream] : streams) {
      if (most == nullptr || std::pair(stream.computation_ns, stream.busy_ns) >
                                 std::pair(most->computation_ns, most->busy_ns)) {
        most = &stream;
      }
    }
    return most == nullptr ? TimeSpan{} : most->held;
  }

  void SetOddStepsApart() {
    const std::vector<std::size_t>& kept = out_.base.regimes.kept;
    bool any_gpu = false;
    for (const StepFrame& step : out_.steps)
      any_gpu = any_gpu || step.gpu_events > 0;
    auto first = facts_.first_calls.begin();
    std::int64_t host = 0;
    std::int64_t busy = 0;
    std::int64_t with_gpu = 0;
    for (std::size_t i = 0; i < out_.steps.size(); ++i) {
      StepFrame& step = out_.steps[i];
      for (; first != facts_.first_calls.end() && At(first->call).ts_ns < step.host.end; ++first) {
        if (At(first->call).ts_ns >= step.host.start) step.first_call_ns += first->idle_ns;
      }
      step.steady = std::binary_search(kept.begin(), kept.end(), i);
      if (!step.steady) {
        step.odd_because = WhyOdd(i, any_gpu);
        step.odd_by_pace = IsByPace(i);
        continue;
      }
      ++out_.steady_steps;
      host += step.host_ns();
      if (!step.gpu) continue;
      ++with_gpu;
      busy += step.busy_ns;
    }
    if (out_.steady_steps == 0) return;
    out_.steady_host_ns = host / static_cast<std::int64_t>(out_.steady_steps);
    if (with_gpu > 0) out_.steady_busy_ns = busy / with_gpu;
  }

  std::string WhyOdd(std::size_t i, bool any_gpu) const {
    const StepFrame& step = out_.steps[i];
    if (any_gpu && step.gpu_events == 0) return "no GPU work recorded";
    if (facts_.cut && step.host.end >= facts_.cut->at_ns) return "cut off";
    if (static_cast<double>(step.first_call_ns) >
        kFirstCallShare * static_cast<double>(step.host_ns())) {
      return "one-time initialization";
    }
    if (out_.base.group.HeldIn(i) < out_.base.group.size) return kNoWholeGroup;
    const TimeSpan unit = out_.base.units[i];
    const auto& change = out_.base.regimes.change;
    if (change && i < change->at)
      return change->before_ns < change->after_ns ? kFasterBefore : kSlowerBefore;
    if (unit.start < out_.base.head.end_ns) return "the GPU was still finishing earlier work";
    if (unit.end - unit.start > out_.base.unit_ns()) return kLonger;
    return out_.base.open_end && i + 1 == out_.steps.size() ? kNoEnd : kShorter;
  }

  bool IsByPace(std::size_t i) const {
    constexpr double kColdLonger = 2;  // than those that are kept
    const TimeSpan unit = out_.base.units[i];
    if (i < out_.base.regimes.kept.front() &&
        static_cast<double>(unit.end - unit.start) >
            kColdLonger * static_cast<double>(out_.base.unit_ns()))
      return false;
    const std::string& why = out_.steps[i].odd_because;
    return why == kLonger || why == kShorter || why == kFasterBefore || why == kSlowerBefore ||
           why == kNoWholeGroup;
  }

  void MakeStepTime() {
    out_.step_ns = out_.base.unit_ns();
    for (const TimeSpan& span : out_.base.host_base) {
      out_.host_working_ns +=
          span.end - span.start - Length(Within(facts_.in_calls_that_wait, span));
    }
  }

  void AddFirstCalls() {
    for (const FrameFacts::FirstCall& one : facts_.first_calls) {
      const trace::Event& event = At(one.call);
      if (event.ts_ns < out_.frame.start || event.ts_ns >= out_.frame.end) continue;
      ++out_.first_calls.calls;
      switch (one.kind) {
        case FrameFacts::FirstCall::Kind::kSetUp: out_.first_calls.set_up_ns += one.idle_ns; break;
        case FrameFacts::FirstCall::Kind::kMemory: out_.first_calls.memory_ns += one.idle_ns; break;
        case FrameFacts::FirstCall::Kind::kLoadingLaunch:
          out_.first_calls.loading_launches_ns += one.idle_ns;
          break;
      }
    }
  }

  // By stream, in order: was the work before it over when the launch began?
  void MeasureLaunches() {
    std::unordered_map<std::uint32_t, std::int64_t> end;  // by stream's track
    std::vector<std::int64_t> leads;
    std::uint64_t idle = 0;
    for (const LaunchedWork& work : facts_.gpu) {
      const trace::Event& event = At(work.event);
      const auto [last, first] = end.try_emplace(event.track, trace::kAbsent);
      if (work.launch != trace::kNoEvent && trace::IsLaunchCall(At(work.launch).kind) &&
          work.launch_ns >= out_.frame.start && work.launch_ns < host_end_) {
        leads.push_back(std::max<std::int64_t>(0, event.ts_ns - At(work.launch).end_ns()));
        if (last->second <= work.launch_ns) ++idle;
      }
      last->second = std::max(last->second, event.end_ns());
    }
    if (leads.empty()) return;
    out_.launched_idle_share = static_cast<double>(idle) / static_cast<double>(leads.size());
    out_.launch_lead_ns = MedianOf(std::move(leads));
  }

  void ListWhatIsAbsent() {
    if (!out_.base.reason.empty()) out_.absent.push_back("steps: " + out_.base.reason);
    if (!facts_.gpu_work()) {
      out_.absent.emplace_back("GPU time: no GPU work is recorded");
    } else if (facts_.launched.empty()) {
      out_.absent.emplace_back(
          "GPU time of a step, launch lead: no launch is recorded with its GPU work");
    }
    if (!unseen_.foreign_unknown.empty())
      out_.absent.push_back("foreign work: " + unseen_.foreign_unknown);
    if (out_.several_processes) {
      out_.absent.push_back(fmt::format(
          "other processes: several launch GPU work, the frames are those of process {}",
          out_.process));
    }
  }

  const FrameFacts& facts_;
  UnseenWork unseen_;
  TimeMeter busy_meter_;
  TimeMeter unrecorded_meter_;
  TimeFrames out_;
  WorkSets sets_;                               // own work of the frame
  std::optional<TimeMeter> computation_meter_;  // of sets_
  std::optional<TimeSpan> own_;                 // from its first to its last
  std::int64_t host_end_ = 0;                   // of the last step
  TimeSet first_waits_;                         // of the host, before its first launch
  TimeSet others_;  // busy with any work, and host waits for foreign work
  TimeSet lost_;    // what others took
  WorkClasses classes_{facts_.events, Communicators::kAll};
};

}  // namespace

std::size_t TimeFrames::base_steps() const {
  return static_cast<std::size_t>(base.count);
}

bool TimeFrames::IsLeftOut(EventIndex gpu) const {
  return std::binary_search(left_out.begin(), left_out.end(), gpu);
}

std::int64_t TimeFrames::holes_ns() const {
  std::int64_t ns = 0;
  for (const StepHole& hole : base.holes)
    ns += hole.span.end - hole.span.start;
  return ns;
}

TimeFrames MakeTimeFrames(const FrameFacts& facts) {
  return FrameMaker(facts).Run();
}

BaseOfTime MakeBaseOfTime(const FrameFacts& facts) {
  return FindBaseOfTime(facts, FindUnrecordedHead(facts, FindUnseenWork(facts).foreign),
                        GroupUnits::kNever);
}

std::size_t TimeFrames::MemoryBytes() const {
  std::size_t bytes = sizeof(*this) + steps.capacity() * sizeof(StepFrame) +
                      (foreign.capacity() + left_out.capacity()) * sizeof(EventIndex) +
                      (foreign_busy.capacity() + unrecorded.capacity()) * sizeof(TimeSpan) +
                      host_only.groups.capacity() * sizeof(HostOnlyGroup);
  for (const HostOnlyGroup& group : host_only.groups)
    bytes += group.before.capacity() + group.after.capacity() + group.where.capacity() +
             group.within.capacity();
  return bytes;
}

}  // namespace jarvis::analysis
