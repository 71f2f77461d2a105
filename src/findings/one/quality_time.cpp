#include "findings/one/quality_time.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/tables/summary.h"
#include "findings/one/quality_parts.h"
#include "findings/one/thresholds.h"
#include "session/trace_frames.h"
#include "session/trace_trust.h"

namespace jarvis::findings {
namespace {

using analysis::FirstCall;
using analysis::FirstCallKind;

// Percent of a step: less of it is no more than noise.
constexpr double kToldFrom = 0.5;

class TimeQualities {
 public:
  TimeQualities(const session::LoadedTrace& trace, std::vector<Quality>* list)
      : trace_(trace), events_(trace.events()), base_(TimeBaseOf(trace)), list_(*list) {}

  Result<void> Run(const analysis::RecordingChecks& checks, const Job& job) {
    JV_ASSIGN(const auto frames, session::FramesOf(trace_, job));
    Unrecorded(frames->frames);
    JV_ASSIGN(const auto cost, session::ProfilingCostOf(trace_, job));
    Frames(*cost);
    Overheads(*cost);
    EventsCost(*cost, frames->frames);
    JV_ASSIGN(const auto first, session::FirstCallsOf(trace_, job));
    FirstTime(*first);
    Allocations(*first);
    JV_ASSIGN(const auto descheduled, session::DescheduledOf(trace_, job));
    NotRunning(*descheduled, frames->books);
    Dispatch(checks);
    Clocks(checks, frames->books.gpu);
    Twice(checks);
    return {};
  }

 private:
  Quality& Add(const char* code, Severity severity, std::string text) {
    Quality& added = list_.emplace_back();
    added.code = code;
    added.severity = severity;
    added.text = std::move(text);
    return added;
  }
  bool Matters(const Quality& q) const { return q.percent.value_or(0) >= limits::kQualityLead; }
  static std::string Of(double value) { return ShortNumber(value); }

  void Unrecorded(const analysis::TimeFrames& frames) {
    const double ms = static_cast<double>(Length(frames.unrecorded) - frames.holes_ns()) / 1e6;
    if (ms <= 0) return;
    Quality q;
    SetTime(RecordingOf(trace_), ms, 0, &q);
    if (q.percent.value_or(0) < kToldFrom) return;
    q.code = "unrecorded_gpu_work";
    q.severity = Matters(q) ? Severity::kWarning : Severity::kNote;
    const double waited = static_cast<double>(frames.host_waits_unrecorded_ns) / 1e6;
    q.text = fmt::format("For {} ms the GPU ran work that is not in the trace: {}.", Of(ms),
                         WhoWaited(waited, ms));
    q.count = frames.unrecorded.size();
    q.consequence =
        waited > 0
            ? "Do not read that time as GPU idle time, nor as the cost of the copy or wait in "
              "which the host is blocked."
            : "Do not read that time as GPU idle time, nor as part of the work queued after it.";
    q.record = "synchronize before recording starts, or record the earlier steps as well";
    list_.push_back(std::move(q));
  }

  // A host that runs ahead waits for nothing, while its work does.
  static std::string WhoWaited(double waited_ms, double ms) {
    constexpr double kNearlyAll = 0.9;
    if (waited_ms >= kNearlyAll * ms)
      return "the host waited for that work, and what was queued in the meantime started after it";
    const char* queued = "work launched in the meantime was queued after it";
    if (waited_ms <= (1 - kNearlyAll) * ms) return fmt::format("{}; the host did not wait", queued);
    return fmt::format("{}, and the host waited for {} ms of it", queued, Of(waited_ms));
  }

  // A frame's function and the end of its file's path: "a.py(3): call".
  static std::string FrameText(std::string_view name) {
    constexpr std::size_t kLong = 80;
    const std::size_t file_end = name.find('(');
    const std::size_t slash = name.substr(0, file_end).rfind('/');
    if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
    // A compiler's file is called by a hash.
    constexpr std::size_t kHash = 40;
    const std::size_t function = name.find("): ");
    if (name.find(".py(") != std::string_view::npos && name.find(".py(") >= kHash &&
        function != std::string_view::npos)
      return fmt::format("the compiled graph's `{}`", name.substr(function + 3));
    return std::string(name.size() > kLong ? name.substr(name.size() - kLong) : name);
  }

  void Frames(const analysis::ProfilingCost& cost) {
    if (cost.frames.empty()) return;
    const analysis::FrameCost& first = cost.frames.front();
    std::uint64_t gaps = 0;
    for (const analysis::FrameCost& frame : cost.frames)
      gaps += frame.gaps;
    std::string text = fmt::format(
        "In {}{} the profiler adds a pause of {} µs to every traced call ({} µs in other Python "
        "frames): {} pauses, {} ms of host time",
        FrameText(events_.strings[first.name]),
        cost.frames.size() > 1 ? fmt::format(" and {} more frames", cost.frames.size() - 1) : "",
        Of(first.typical_gap_us), Of(cost.usual_gap_us.value_or(0)), gaps, Of(cost.artefact_ms));
    if (cost.idle_ms > 0)
      text += fmt::format(" and about {} ms of GPU idle time", Of(cost.idle_ms));
    Quality& q = Add("profiler_frames", Severity::kWarning, text + ".");
    q.count = gaps;
    q.first_uid = events_[first.first].uid;
    SetTime(base_, trace_.timeline() ? cost.idle_ms : cost.artefact_ms, 0, &q);
    q.consequence =
        "Late launches in this frame do not call for graphs or fewer kernels, because the host is "
        "that much faster without stacks.";
    q.record = trace::PlainWords(how_.no_stacks) +
               " for times; a second, short run with stacks for code locations";
  }

  void Overheads(const analysis::ProfilingCost& cost) {
    std::vector<std::string> names;
    std::uint64_t count = 0;
    for (const analysis::OverheadCost& one : cost.overheads) {
      if (!one.profiler) continue;
      names.push_back(
          fmt::format("{} x {} {} ms", one.count, events_.strings[one.name], Of(one.ms)));
      count += one.count;
    }
    if (names.empty()) return;
    Quality& q = Add("profiler_overhead", Severity::kNote,
                     fmt::format("The profiler stopped the program to work on its own buffers: {}.",
                                 fmt::join(names, ", ")));
    q.count = count;
    SetTime(base_, cost.overhead_ms, 0, &q);
    q.consequence =
        "A launch that waits for it is not slow, and the gap after it is not the program's idle "
        "time.";
    q.record = "a longer warm-up, so that buffers are there: " + trace::PlainWords(how_.warm_steps);
  }

  // Of one step where several are recorded, as all else that is told of steps.
  void EventsCost(const analysis::ProfilingCost& cost, const analysis::TimeFrames& frames) {
    const double steps = std::max(1.0, frames.base.recorded_units());
    // It is part of the time that was measured.
    constexpr double kMost = 0.95;  // as the simulation takes it (RemoveProfilerCost)
    const double unit_ms = base_.ms / std::max(1.0, static_cast<double>(frames.base.count));
    const auto each = [&](double ms) { return Of(std::min(ms / steps, kMost * unit_ms)); };
    const auto [low, high] = RecordingCost(cost);
    std::vector<std::string> kinds;
    std::uint64_t count = 0;
    const auto add = [&](const char* name, const std::optional<analysis::EventCost>& one) {
      if (!one) return;
      count += one->events;
      kinds.push_back(
          fmt::format("{} {}: {} to {} ms",
                      static_cast<std::uint64_t>(static_cast<double>(one->events) / steps), name,
                      each(one->low_ms()), each(one->high_ms())));
    };
    add("Python calls", cost.python);
    add("ops", cost.ops);
    add("runtime calls", cost.runtime);
    if (kinds.empty()) return;
    // While the GPU works, the host's time costs nothing, unless it is late for what comes next.
    const double busy = static_cast<double>(frames.steady.busy_ns()) / 1e6;
    const double waiting = trace_.timeline() ? std::max(0.0, base_.ms - busy) : high;
    Quality q;
    SetTime(base_, std::min(low, waiting), std::min(high, waiting), &q);
    if (q.percent_high.value_or(q.percent.value_or(0)) < kToldFrom) return;
    q.code = "profiler_events";
    const std::string per_unit = steps > 1 ? PerUnit(frames.base) : "";
    q.text = fmt::format("Recording slowed the host by an estimated {} to {} ms{}.", each(low),
                         each(high), per_unit);
    q.parts = fmt::format("Of that: {}.", fmt::join(kinds, ", "));
    q.count = count;
    q.consequence = trace_.timeline()
                        ? "GPU idle time caused by the host may be overstated by up to "
                          "that much; kernel times are not affected."
                        : "Host times may be overstated by up to that much.";
    q.record = "the wall time of the same steps without a profiler";
    list_.push_back(std::move(q));
  }

  std::string StepsWith(const std::vector<FirstCall>& calls) const {
    std::map<std::int64_t, double> by_step;
    const std::vector<analysis::Step>& marked = trace_.steps();
    for (const FirstCall& call : calls) {
      const auto after = std::upper_bound(
          marked.begin(), marked.end(), call.begin_ns,
          [](std::int64_t at, const analysis::Step& step) { return at < step.start_ns; });
      if (after == marked.begin() || call.begin_ns >= std::prev(after)->end_ns) continue;
      by_step[std::prev(after)->number] += call.ms();
    }
    if (by_step.empty() || trace_.steps().size() < 2) return {};
    std::vector<std::string> steps;
    for (const auto& [number, ms] : by_step) {
      if (steps.size() < 3) steps.push_back(fmt::format("{} ms in step {}", Of(ms), number));
    }
    return fmt::format(", {}", fmt::join(steps, ", "));
  }

  std::string CallText(const FirstCall& call) const {
    std::string text = call.kind == FirstCallKind::kCompile ? FrameText(events_.name(call.call))
                                                            : std::string(events_.name(call.call));
    if (call.kernel != trace::kNoEvent)
      text = "launch of " + analysis::ShortKernelName(events_.name(call.kernel));
    if (call.op != trace::kNoEvent && call.op != call.call)
      text += fmt::format(" in {}", events_.name(call.op));
    return text;
  }

  // Equal ones together; what is not shown is counted in calls, as all of them are.
  std::string Longest(const std::vector<FirstCall>& calls) const {
    constexpr std::size_t kShown = 3;
    std::map<std::string, std::pair<std::size_t, double>> sums;
    for (const FirstCall& call : calls) {
      auto& [count, ms] = sums[CallText(call)];
      ++count;
      ms += call.ms();
    }
    std::vector<std::tuple<double, std::string, std::size_t>> order;
    for (const auto& [name, sum] : sums) {
      const std::string times = sum.first > 1 ? fmt::format("{} x ", sum.first) : std::string();
      order.emplace_back(-sum.second, fmt::format("{}{} {} ms", times, name, Of(sum.second)),
                         sum.first);
    }
    std::sort(order.begin(), order.end());
    std::vector<std::string> shown;
    std::size_t left = calls.size();
    for (std::size_t i = 0; i < std::min(kShown, order.size()); ++i) {
      shown.push_back(std::get<1>(order[i]));
      left -= std::get<2>(order[i]);
    }
    return fmt::format("{}{}", fmt::join(shown, ", "),
                       left > 0 ? fmt::format(" and {} more", left) : std::string());
  }

  // The wall time of some of them: what several threads do at once counts once.
  static double WallMs(const std::vector<FirstCall>& calls) {
    analysis::FirstCalls some;
    some.calls = calls;
    some.AddUp();
    return some.total_ms;
  }

  // A launch is held against all launches, an op against its own later calls.
  std::string UsuallyTakes(const FirstCall& call) const {
    if (call.usual_us <= 0) return "";
    if (call.kind == FirstCallKind::kLaunch)
      return fmt::format(": {} usually takes {} µs", events_.name(call.call), Of(call.usual_us));
    return fmt::format(": the first of these later takes {} µs", Of(call.usual_us));
  }

  void FirstTime(const analysis::FirstCalls& all) {
    std::vector<FirstCall> calls = all.calls;
    std::erase_if(calls,
                  [](const FirstCall& one) { return one.kind == FirstCallKind::kAllocation; });
    if (calls.empty()) return;
    const double ms = WallMs(calls);
    Quality q;
    SetTime(OnceBaseOf(trace_), ms, 0, &q);
    if (q.percent.value_or(0) < kToldFrom) return;
    q.code = "first_calls";
    q.severity = Matters(q) ? Severity::kWarning : Severity::kNote;
    const std::string what =
        calls.size() == 1
            ? std::string("one first call that loads code or initializes a library")
            : fmt::format("{} first calls that load code or initialize libraries", calls.size());
    q.text = fmt::format("{} ms go to {}{}: {}.", Of(ms), what, StepsWith(calls), Longest(calls));
    q.count = calls.size();
    q.first_uid = events_[calls.front().call].uid;
    q.consequence =
        "First calls look slower than they usually are" + UsuallyTakes(calls.front()) + ".";
    q.record = "run the same steps before recording: " + trace::PlainWords(how_.warm_steps);
    list_.push_back(std::move(q));
  }

  void Allocations(const analysis::FirstCalls& all) {
    std::vector<FirstCall> calls = all.calls;
    std::erase_if(calls,
                  [](const FirstCall& one) { return one.kind != FirstCallKind::kAllocation; });
    if (calls.empty()) return;
    std::map<std::string_view, std::pair<std::uint64_t, double>> names;
    for (const FirstCall& call : calls) {
      auto& [count, ms] = names[events_.name(call.call)];
      ++count;
      ms += call.ms();
    }
    std::vector<std::string> parts;
    for (const auto& [name, sum] : names)
      parts.push_back(fmt::format("{} x {} {} ms", sum.first, name, Of(sum.second)));
    const double ms = WallMs(calls);
    Quality q;
    SetTime(OnceBaseOf(trace_), ms, 0, &q);
    if (q.percent.value_or(0) < kToldFrom) return;
    q.code = "allocator_growth";
    q.severity = Matters(q) ? Severity::kWarning : Severity::kNote;
    q.text = fmt::format("{} ms went to the driver's allocator while the GPU was idle ({}{}).",
                         Of(ms), fmt::join(parts, ", "), StepsWith(calls));
    q.count = calls.size();
    q.first_uid = events_[calls.front().call].uid;
    q.consequence =
        "Ops around them are not slow. Steps that find their memory in the cache do not have this "
        "cost, unless memory is short and the cache is flushed again.";
    const bool torch = how_.profiler.empty() || how_.framework == "PyTorch";
    q.record = fmt::format("more warm-up steps; if steady steps have it too, {}",
                           torch ? "memory_stats() and expandable_segments"
                                 : "buffers that are allocated once and used again");
    list_.push_back(std::move(q));
  }

  void NotRunning(const analysis::Descheduled& found, const ledger::Books& books) {
    if (found.pieces.empty()) return;
    std::map<std::string_view, int> names;
    for (const analysis::SilentPiece& piece : found.pieces) {
      if (piece.owner != trace::kNoEvent &&
          events_[piece.owner].kind != trace::EventKind::kUserAnnotation)
        ++names[events_.name(piece.owner)];
    }
    std::vector<std::pair<int, std::string_view>> order;
    for (const auto& [name, count] : names)
      order.emplace_back(-count, name);
    std::sort(order.begin(), order.end());
    std::vector<std::string_view> some;
    for (std::size_t i = 0; i < std::min<std::size_t>(4, order.size()); ++i)
      some.push_back(order[i].second);
    std::string text = fmt::format(
        "The host stalls {} times for {} to {} ms, {} ms in all ({}% of its time), in calls that "
        "usually take microseconds ({}, ...).",
        found.pieces.size(), Of(found.shortest_ms), Of(found.longest_ms), Of(found.total_ms),
        Of(found.share_percent), fmt::join(some, ", "));
    if (found.tick) {
      text += fmt::format(
          " {} of the {} times at which stalls begin or end lie on a {} ms grid, as a scheduler's "
          "do; "
          "chance would put {:.1f} there.",
          found.tick->count, found.tick->instants, Of(found.tick->period_ms),
          found.tick->by_chance);
    }
    Quality& q = Add("descheduled_host", Severity::kWarning, text);
    q.count = found.pieces.size();
    const auto inside = std::find_if(
        found.pieces.begin(), found.pieces.end(),
        [](const analysis::SilentPiece& piece) { return piece.owner != trace::kNoEvent; });
    if (inside != found.pieces.end()) q.first_uid = events_[inside->owner].uid;
    const auto& kinds = books.gpu.kinds;
    const bool collectives =
        kinds[static_cast<std::size_t>(ledger::WorkKind::kCommTransfer)].count +
            kinds[static_cast<std::size_t>(ledger::WorkKind::kCommWait)].count >
        0;
    // While the GPU works it costs nothing, unless other ranks wait.
    const double idle = MillisOf(books.wall.Of(ledger::IdleCause::kNotScheduled));
    SetTime(base_, collectives ? found.total_ms : idle, 0, &q);
    q.consequence =
        "No op or kernel is slow: the process probably had no CPU, which only a scheduler trace "
        "can "
        "prove.";
    if (collectives) q.consequence += " Other ranks wait for this one in collectives.";
    q.record = "perf sched beside the profiler";
  }

  void Dispatch(const analysis::RecordingChecks& checks) {
    if (!checks.touching) return;
    constexpr double kFloorMaxUs = 12;  // longer: the trace has no short kernels to tell from
    const analysis::TouchingKernels& t = *checks.touching;
    const double share = static_cast<double>(t.touching) / static_cast<double>(t.neighbours) * 100;
    const bool floor = t.floor_us <= kFloorMaxUs;
    std::string text = fmt::format(
        "{} of {} back-to-back kernels ({}%) start exactly when the previous one ends, so "
        "durations "
        "include dispatch time",
        t.touching, t.neighbours, Of(share));
    if (floor) {
      text += fmt::format(
          ". Dispatch is at most about {} µs per kernel, as 98% of kernels take at least that: {} "
          "ms "
          "over {} kernels",
          Of(t.floor_us), Of(t.bound_ms()), t.kernels);
    }
    Quality& q = Add("dispatch_in_durations", Severity::kNote, text + ".");
    q.count = t.touching;
    // A bound of what may be dispatch; none of it may be.
    if (floor) SetTime(base_, 0, t.bound_ms(), &q);
    q.consequence =
        "Rates of the shortest kernels are too low. When comparing with traces of other profilers, "
        "compare wall times only.";
    q.record = "rocprofv3 counters for single kernels";
  }

  void Clocks(const analysis::RecordingChecks& checks, const ledger::GpuBook& gpu) {
    if (checks.whole_microseconds) {
      std::uint64_t kernels = 0;
      for (const auto& kind : gpu.kinds)
        kernels += kind.count;
      Quality& q =
          Add("whole_microseconds", Severity::kNote,
              checks.median_kernel_us > 0
                  ? fmt::format("All times are in whole microseconds, and half of the kernels "
                                "take {} µs or less.",
                                Of(checks.median_kernel_us))
                  : std::string("All times are in whole microseconds."));
      // Each kernel's by half of one at most.
      SetTime(base_, 0, 0.5e-3 * static_cast<double>(kernels), &q);
      q.consequence =
          "For the shortest kernels, durations, gaps and rates may be off by up to 50%.";
      q.record = "PyTorch 2.3 or newer, which writes nanoseconds";
    }
    if (checks.clock) Clock(*checks.clock);
    if (checks.launched_later == 0) return;
    Quality& q =
        Add("work_before_launch", Severity::kWarning,
            fmt::format("{} GPU events ({} ms) start up to {} ms before the first call that could "
                        "have launched them.",
                        checks.launched_later, Of(checks.launched_later_ms),
                        Of(checks.launched_later_us / 1000)));
    q.count = checks.launched_later;
    q.first_uid = events_[checks.launched_later_first].uid;
    SetTime(base_, checks.launched_later_ms, 0, &q);
    q.consequence =
        "They belong to a step before the recording: their ops are unknown, and they count in no "
        "step here.";
    q.record = "synchronize before recording starts";
  }

  void Clock(const analysis::ClockCheck& clock) {
    std::vector<std::string> parts;
    if (clock.early_starts > 0) {
      parts.push_back(
          fmt::format("{} of {} GPU events start up to {} µs before their launch call does",
                      clock.early_starts, clock.launched, Of(clock.early_us)));
    }
    if (clock.late_ends > 0) {
      parts.push_back(fmt::format(
          "{} wait{} for the device return{} up to {} µs before the work ends", clock.late_ends,
          clock.late_ends == 1 ? "" : "s", clock.late_ends == 1 ? "s" : "", Of(clock.late_us)));
    }
    Quality& q = Add("clocks_disagree", Severity::kNote,
                     fmt::format("Host and GPU use different clocks: {}.", fmt::join(parts, "; ")));
    q.count = clock.early_starts + clock.late_ends;
    q.first_uid = events_[clock.early_starts > 0 ? clock.early_first : clock.late_first].uid;
    q.consequence = fmt::format("Launch latencies and waits are off by as much as {} µs.",
                                Of(std::max(clock.early_us, clock.late_us)));
    q.record = "a shorter recording: the clocks drift apart";
  }

  void Twice(const analysis::RecordingChecks& checks) {
    Wrappers(checks);
    if (checks.repeated_annotations > 0) {
      Quality& q =
          Add("repeated_annotations", Severity::kNote,
              fmt::format("{} annotations stand inside another of the same name and time "
                          "({} ms).",
                          checks.repeated_annotations, Of(checks.repeated_annotations_ms)));
      q.count = checks.repeated_annotations;
      q.consequence = "Their time must be counted once.";
    }
    const double idle_ms = checks.gpu_annotations_ms - checks.gpu_annotations_busy_ms;
    if (idle_ms > 0.5 * checks.gpu_annotations_ms) {
      Quality& q =
          Add("gpu_annotation_rows", Severity::kNote,
              fmt::format("{} annotation row{} on the GPU timeline span{} {} ms; the GPU "
                          "worked for {} ms of that.",
                          checks.gpu_annotations, checks.gpu_annotations == 1 ? "" : "s",
                          checks.gpu_annotations == 1 ? "s" : "", Of(checks.gpu_annotations_ms),
                          Of(checks.gpu_annotations_busy_ms)));
      q.count = checks.gpu_annotations;
      q.consequence = "The length of such a row is not the GPU time of what it names.";
    }
  }

  void Wrappers(const analysis::RecordingChecks& checks) {
    if (checks.wrappers.empty()) return;
    std::uint64_t count = 0;
    double ms = 0;
    std::uint64_t ops = 0;
    for (const analysis::WrapperOps& one : checks.wrappers) {
      count += one.count;
      ms += one.ms;
    }
    for (const trace::EventIndex e : trace_.tree().preorder())
      ops += events_[e].kind == trace::EventKind::kCpuOp ? 1U : 0U;
    constexpr double kShareMin = 0.05;  // an overload that calls another one is nothing unusual
    if (static_cast<double>(count) < kShareMin * static_cast<double>(ops)) return;
    const analysis::WrapperOps& most = checks.wrappers.front();
    Quality& q = Add("ops_counted_twice", Severity::kNote,
                     fmt::format("{} of {} ops only stand for the op below them ({}{}, {} times).",
                                 count, ops, events_.strings[most.name],
                                 most.name == most.inner
                                     ? std::string(" below itself")
                                     : fmt::format(" around {}", events_.strings[most.inner]),
                                 most.count));
    q.count = count;
    q.value = ms;
    q.unit = "ms";
    q.consequence = fmt::format(
        "Calls of such names, and {} ms of host time, count twice in sums "
        "over ops; GPU time does not.",
        Of(ms));
  }

  const session::LoadedTrace& trace_;
  const trace::HowToRecord& how_ = trace::HowToRecordNext(trace_.trace().metadata);
  const trace::EventStore& events_;
  const TimeBase base_;
  std::vector<Quality>& list_;
};

}  // namespace

std::pair<double, double> RecordingCost(const analysis::ProfilingCost& cost) {
  std::pair<double, double> ms;
  for (const auto* one : {&cost.python, &cost.ops, &cost.runtime}) {
    if (!*one) continue;
    ms.first += (*one)->low_ms();
    ms.second += (*one)->high_ms();
  }
  return ms;
}

Result<void> AddTimeQualities(const session::LoadedTrace& trace,
                              const analysis::RecordingChecks& checks, const Job& job,
                              std::vector<Quality>* list) {
  return TimeQualities(trace, list).Run(checks, job);
}

}  // namespace jarvis::findings
