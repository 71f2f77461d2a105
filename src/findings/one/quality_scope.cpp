#include "findings/one/quality_scope.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/number_text.h"
#include "base/text.h"
#include "findings/one/analysis.h"
#include "findings/one/quality_parts.h"
#include "findings/one/quality_time.h"
#include "findings/one/thresholds.h"
#include "session/trace_frames.h"
#include "session/trace_trust.h"
#include "trace/event_store.h"
#include "trace/how_to_record.h"

namespace jarvis::findings {
namespace {

// Percent of the base: less of it changes nothing that is said.
constexpr double kBears = 2;
constexpr double kLeftOutChanges = 10;  // ... by which the mean of all is another
constexpr double kLeftOutMost = 25;     // percent of the units' time, set apart by length alone

bool TakesDeviceMemory(std::string_view name) {
  return name == "cudaMalloc" || name == "hipMalloc";
}

// By what runs, not by the files of a server that have it in their name.
bool IsSampling(trace::EventKind kind, std::string_view name) {
  if (kind != trace::EventKind::kCpuOp && kind != trace::EventKind::kKernel) return false;
  return ContainsNoCase(name, "sampl") || ContainsNoCase(name, "argmax") ||
         ContainsNoCase(name, "multinomial");
}

class ScopeQualities {
 public:
  ScopeQualities(const session::LoadedTrace& trace, const Analysis& analysis,
                 std::vector<Quality>* list)
      : trace_(trace), events_(trace.events()), in_(analysis), list_(*list) {}

  void Run() {
    LeftOut();
    if (!trace_.recorded().gpu_work) return;
    LookAtNames();
    NoPass();
    const bool one = in_.base.count == 1 && in_.frames->frames.steps.size() <= 1;
    if (one && in_.context.IsServer()) {
      EngineStep();
    } else if (one) {
      OnePass();
    }
    SilentHost();
    GraphLaunches();
    EventsCost();
    InferredDevice();
  }

 private:
  Quality* Find(std::string_view code) {
    const auto found = std::find_if(list_.begin(), list_.end(),
                                    [&](const Quality& one) { return one.code == code; });
    return found == list_.end() ? nullptr : &*found;
  }
  Quality& Add(const char* code, std::string text) {
    Quality& added = list_.emplace_back();
    added.code = code;
    added.text = std::move(text);
    return added;
  }
  std::string Each(double ms) const { return ShortNumber(in_.base.Each(ms)); }

  void LookAtNames() {
    std::map<StringId, bool> sampling;  // by name: each is read once
    for (trace::EventIndex e = 0; e < events_.size(); ++e) {
      const std::string_view name = events_.name(e);
      if (trace::IsLaunchCall(events_[e].kind) && TakesDeviceMemory(name)) {
        auto& [count, ms] = allocations_[name];
        ++count;
        ms += static_cast<double>(events_[e].dur_ns) / 1e6;
      }
      const auto [at, fresh] = sampling.try_emplace(events_[e].name, false);
      if (fresh) at->second = IsSampling(events_[e].kind, name);
      samples_ = samples_ || at->second;
    }
  }

  // Its time is not the model's.
  void NoPass() {
    const std::string& phase = in_.workload[WorkloadPart::kPhase].value;
    if (!phase.starts_with(kNoPassRecorded)) return;
    Quality& q = Add("no_pass", fmt::format("No forward or backward pass was recorded{}.",
                                            phase.substr(kNoPassRecorded.size())));
    q.severity = Severity::kWarning;
    q.consequence = "Nothing here says how long a training step takes or what limits it.";
    q.record = "whole steps, forward and backward pass included";
  }

  std::string PassText() const {
    const analysis::TimeFrames& frames = in_.frames->frames;
    if (frames.steps.empty()) return "One pass is recorded, without step marks";
    if (in_.base.unit != "step") return "One pass is recorded";
    return fmt::format("One step is recorded ({})", frames.steps.front().name);
  }

  void OnePass() {
    double all_ms = 0;
    for (const auto& [name, sum] : allocations_)
      all_ms += sum.second;
    // A call or two that take next to nothing come at any time.
    constexpr double kWorthTelling = 1;  // percent of the base
    if (in_.base.Percent(all_ms) >= kWorthTelling) {
      std::vector<std::string> calls;
      for (const auto& [name, sum] : allocations_) {
        calls.push_back(fmt::format("{} x {}, {} ms", sum.first, name, ShortNumber(sum.second)));
      }
      Quality& q =
          Add("one_pass", fmt::format("{}, and it allocates memory from the driver ({}), so "
                                      "it was not warmed up.",
                                      PassText(), fmt::join(calls, "; ")));
      q.consequence =
          "Later passes, which find that memory in the cache, may be faster; by how much is "
          "unknown.";
      q.record = "warm-up calls first, then three or more; mark each: " +
                 trace::PlainWords(how_.marked_steps);
      q.ms = all_ms;
      return;
    }
    Quality& q = Add("one_pass", PassText() + ".");
    q.consequence = "How much passes vary is unknown";
    const analysis::Balance& balance = in_.base.balance;
    const double host = static_cast<double>(balance.own_ns() - balance.busy_ns()) / 1e6;
    constexpr double kMuch = 10;  // percent of the base
    q.consequence +=
        in_.base.Percent(host) >= kMuch
            ? fmt::format(", and so is how much of the {} ms of GPU idle time recurs in each.",
                          ShortNumber(host))
            : std::string(".");
    q.record = "at least three steps after warm-up: " + trace::PlainWords(how_.warm_steps);
  }

  // What a serving engine's user waits for is the time from step to step.
  void EngineStep() {
    const bool ahead = in_.frames->frames.whole.unrecorded_ns > 0;
    std::string text = "One engine step is recorded";
    if (!samples_) text += ", without sampling";
    if (ahead) {
      text +=
          "; the GPU is still running an earlier one when it starts, because scheduling is "
          "asynchronous";
    }
    Quality& q = Add("engine_step", text + ".");
    const bool decodes =
        in_.workload[WorkloadPart::kPhase].value.find("decode") != std::string::npos;
    q.consequence = fmt::format("{} is unknown, as it also includes scheduling{}.",
                                decodes ? "Time per output token" : "Time to first token",
                                samples_ ? "" : " and sampling");
    q.record = "several consecutive engine steps under steady load";
  }

  // Units that only their length sets apart may be a part of what the user waits for.
  void LeftOut() {
    const analysis::TimeFrames& frames = in_.frames->frames;
    std::int64_t all = 0, out = 0;
    std::size_t units = 0;
    for (std::size_t i = 0; i < frames.steps.size(); ++i) {
      const analysis::TimeSpan unit = frames.base.units[i];
      all += unit.end - unit.start;
      if (!frames.steps[i].odd_by_pace) continue;
      out += unit.end - unit.start;
      units += frames.base.group.HeldIn(i);
    }
    // What they take above as many of those that are kept; less than nothing: below.
    const double above = static_cast<double>(out) - static_cast<double>(units) *
                                                        static_cast<double>(frames.base.unit_ns()) /
                                                        static_cast<double>(frames.base.group.size);
    const auto percent_of_all = [&](double ns) { return 100 * ns / static_cast<double>(all); };
    if (all == 0) return;
    const double percent = percent_of_all(static_cast<double>(out));
    if (percent < kLeftOutMost || std::abs(percent_of_all(above)) < kLeftOutChanges) return;
    const std::string_view unit = analysis::TimeUnitText(frames.base.unit);
    const std::string several = analysis::PluralOfUnit(unit);
    const Finding* reason = ReasonOfOnce(above / 1e6);
    const bool one = units == 1;
    const std::string apart =
        reason == nullptr ? fmt::format("nothing but {} length sets {} apart",
                                        one ? "its" : "their", one ? "it" : "them")
                          : fmt::format("most of what {} above the others is priority {}",
                                        one ? "it takes" : "they take", reason->global_rank);
    Quality& q =
        Add("units_left_out",
            fmt::format("{} with {:.0f}% of the time of all recorded {} {} in no figure: {}.",
                        one ? fmt::format("One {}", unit) : fmt::format("{} {}", units, several),
                        percent, several, one ? "is" : "are", apart));
    q.severity = Severity::kWarning;
    q.value = percent;
    q.threshold = kLeftOutMost;
    q.unit = "%";
    q.consequence =
        fmt::format("If what {} is usual, the user waits {} than is said here{}.",
                    one ? "it does" : "they do", above > 0 ? "longer" : "shorter",
                    reason == nullptr ? ", and what it costs has no line" : std::string());
    q.record = fmt::format("more {} in a row", several);
    if (frames.base.source != analysis::StepSource::kMarks)
      q.record +=
          ", or marks around what the user waits for: " + trace::PlainWords(how_.marked_steps);
  }

  // What happens once and takes most of that time; null: none.
  const Finding* ReasonOfOnce(double above_ms) const {
    constexpr double kMost = 0.5, kAbout = 1.3;
    for (const Finding& finding : in_.findings) {
      const WallSaving* best = BestWall(finding);
      if (best == nullptr || !finding.one_off) continue;
      if (best->ms.mid >= kMost * above_ms && best->ms.mid <= kAbout * above_ms) return &finding;
    }
    return nullptr;
  }

  // Without stacks nobody knows what the host does between ops: it matters where the GPU waits.
  void SilentHost() {
    if (Find("no_stacks") == nullptr) return;
    const double silent = MillisOf(in_.frames->books.wall.Of(ledger::IdleCause::kOutsideOps));
    const double percent = in_.base.Percent(silent);
    if (percent < kBears) return;
    Quality& q = Add("silent_host", fmt::format("For {} ms {} the GPU is idle while the host is in "
                                                "no recorded op or call, and no Python "
                                                "stacks were recorded.",
                                                Each(silent),
                                                in_.base.count > 1 ? "per " + in_.base.unit
                                                                   : "of the " + in_.base.unit));
    q.severity = Severity::kWarning;
    q.value = percent;
    q.threshold = kBears;
    q.unit = "%";
    q.consequence = "The host may be in Python, in a library's C code or asleep.";
    q.record = fmt::format("a short run with stacks ({}), for where the host is and not for times",
                           trace::PlainWords(how_.stacks));
  }

  // A launch of a CUDA graph takes 2.5 us and up to 0.2 us for each node (NVIDIA, "Constant time
  // launch for straight-line CUDA graphs", 2024): many times that is the price of tracing each
  // node.
  void GraphLaunches() {
    constexpr double kNodeUs = 0.2, kTraced = 3;
    const double idle_ms = MillisOf(in_.frames->books.wall.Of(ledger::IdleCause::kGraphLaunch));
    const double percent = in_.base.Percent(idle_ms);
    if (percent < kBears) return;
    std::set<trace::EventIndex> calls;
    std::uint64_t nodes = 0;
    for (const trace::EventIndex e : trace_.attribution().timeline) {
      const trace::EventIndex call = trace_.tree().parent(e);
      if (call == trace::kNoEvent || !trace_.IsReplayed(e)) continue;
      if (!events_.name(call).starts_with("cu")) return;  // HIP launches node by node by itself
      calls.insert(call);
      ++nodes;
    }
    double calls_us = 0;
    for (const trace::EventIndex call : calls)
      calls_us += trace::MicrosOf(events_[call].dur_ns);
    if (nodes == 0 || calls_us < kTraced * kNodeUs * static_cast<double>(nodes)) return;
    Quality& q = Add(
        "graph_launch",
        fmt::format("Launching GPU graphs takes {} µs per node, and the GPU is idle for {} ms {} "
                    "meanwhile.",
                    ShortNumber(calls_us / static_cast<double>(nodes)), Each(idle_ms),
                    in_.base.count > 1 ? "per " + in_.base.unit : "of the " + in_.base.unit));
    q.severity = Severity::kWarning;
    q.value = percent;
    q.threshold = kBears;
    q.unit = "%";
    q.count = nodes;
    q.consequence = fmt::format(
        "A launch that is not traced takes at most {} µs per node: most of that idle time is "
        "probably the profiler's [inferred].",
        ShortNumber(kNodeUs));
    q.record =
        "the wall time of the same steps without a profiler, or whole graphs by Nsight "
        "Systems (--cuda-graph-trace=graph)";
  }

  // Whether the verdict would be another one if recording had cost nothing.
  void EventsCost() {
    Quality* q = Find("profiler_events");
    if (q == nullptr || !in_.wall.known) return;
    // Collectives wait for others: they are no work that the host would be late for.
    constexpr double kMuch = 0.1;
    const double busy = MillisOf(in_.frames->books.gpu.busy_ns);
    const double own = MillisOf(in_.frames->books.computing_ns());
    const bool apart = own < (1 - kMuch) * busy;
    const double gpu = apart ? own : busy;
    const std::string_view apart_from = apart ? " (collectives not counted)" : "";
    const double host = MillisOf(in_.frames->books.host.alone_ns);
    if (host < 0.75 * gpu) return;
    // The cost is of all recorded steps, odd ones too; floors are of those that shares are of.
    const std::size_t recorded = in_.frames->frames.steps.size();
    const double units = static_cast<double>(std::max<std::size_t>(1, in_.base.count));
    const double part = recorded > 1 ? units / static_cast<double>(recorded) : 1;
    const auto [low, high] = RecordingCost(*session::ProfilingCostOf(trace_, Job()).value());
    const double least = std::max(0.0, host - high * part);
    const double most = std::max(0.0, host - low * part);
    if (least > gpu) {
      q->consequence =
          fmt::format("Without that, host work is still {} ms or more, GPU work {} ms{}.",
                      Each(least), Each(gpu), apart_from);
    } else {
      // A GPU that is idle for much of what is left of the unit then waits, for shorter host work.
      constexpr double kMostly = 0.8;
      const std::optional<Range>& without = in_.wall.unrecorded_ms;
      const bool waits = most < gpu && without && in_.wall.gpu_floor_ms < kMostly * without->low;
      const bool in_turns = waits || in_.bound.kind == ledger::BoundKind::kInTurns;
      q->gpu_binds_without = most < gpu && !in_turns;
      // By the expected cost the GPU waits for most of the unit.
      constexpr double kLikely = 0.5;
      const bool unsure = most >= gpu && !in_turns;
      q->host_likely = unsure && without && in_.wall.gpu_floor_ms < kLikely * without->mid;
      q->bound_unsure = unsure && !q->host_likely;
      // Of what may all be the recording's own nothing is known but the most.
      constexpr double kTold = 0.05;
      q->consequence =
          fmt::format("Without that, host work is {} ms and GPU work {} ms{}: {}.",
                      least < kTold * host ? fmt::format("at most {}", Each(most))
                                           : fmt::format("{} to {}", Each(least), Each(most)),
                      Each(gpu), apart_from,
                      in_turns         ? "host and GPU work one after the other"
                      : most < gpu     ? "the GPU is the bottleneck"
                      : q->host_likely ? "the host is probably still the bottleneck"
                                       : "either may be the bottleneck");
    }
  }

  void InferredDevice() {
    Quality* q = Find("no_platform");
    const WorkloadField& device = in_.workload[WorkloadPart::kDevice];
    if (q == nullptr || !device.known() || !in_.device.empty()) return;
    q->text = fmt::format("The trace does not name its GPU; its {} only show its kind: {}.",
                          trace_.trace().metadata.devices.empty() ? "kernel names" : "properties",
                          device.value);
  }

  const session::LoadedTrace& trace_;
  const trace::HowToRecord& how_ = trace::HowToRecordNext(trace_.trace().metadata);
  const trace::EventStore& events_;
  const Analysis& in_;
  std::vector<Quality>& list_;
  std::map<std::string_view, std::pair<std::uint64_t, double>> allocations_;  // calls, ms
  bool samples_ = false;
};

bool HostMatters(const Analysis& analysis) {
  const WallBase& wall = analysis.wall;
  return !wall.known || wall.host_floor_ms >= 0.75 * wall.gpu_floor_ms;
}

// How much of what is said may be wrong for it, in percent; below 0.5 it is not told.
double BearingOf(const Quality& q, const Analysis& analysis, bool of_start) {
  constexpr double kFirst = 1000;
  constexpr double kOutside = 2;
  constexpr double kDispatchBears = 5;  // percent of the base, at most
  if (q.severity == Severity::kHard) return kFirst;
  const double share = (q.percent.value_or(0) + q.percent_high.value_or(q.percent.value_or(0))) / 2;
  if (q.code == "profiler_events") return HostMatters(analysis) && share >= kBears / 2 ? share : 0;
  if (q.code == "dispatch_in_durations")
    return q.percent_high.value_or(0) >= kDispatchBears ? q.percent_high.value_or(0) / 4 : 0;
  // What lies outside of the steps that shares are of.
  if (q.code == "unlinked_gpu_work" || q.code == "unrecorded_gpu_work" ||
      q.code == "work_before_launch")
    return share >= kBears ? kOutside : 0;
  // A finding of its own tells of both, and so does what is said of a program's start.
  const bool once = q.code == "first_calls" || q.code == "allocator_growth";
  if (analysis.too_little && (once || q.code == "one_pass")) return 0;
  if (once && std::any_of(analysis.findings.begin(), analysis.findings.end(),
                          [](const Finding& one) { return one.one_off; })) {
    return 0;
  }
  if (q.code == "no_pass") return kFirst;
  if (q.code == "cut_off" || q.code == "time_unit") return 50;
  if (q.code == "missing_kernels") return q.value.value_or(0) >= kBears ? kOutside : 0;
  if (q.code == "steps_not_recorded") return kOutside;
  if (IsOneOf(q.code, {"other_device", "device_by_units", "device_by_class"})) return 10;
  if (q.code == "no_platform") return of_start ? 0 : 10;
  if (q.code == "units_left_out") return q.value.value_or(0);
  if (q.code == "graph_launch") return q.value.value_or(0);
  if (q.code == "silent_host") return of_start ? 0 : q.value.value_or(0);
  if (q.code == "gpu_graph_replay") return q.severity == Severity::kWarning ? 12 : 0;
  if (q.code == "engine_step") return 9;
  // That one is recorded stands above; that it is a cold one does not.
  if (q.code == "one_pass") return q.ms ? 1 : 0;
  if (q.code == "whole_microseconds") return q.percent_high.value_or(0) >= kBears ? 0.5 : 0;
  return share >= kBears && q.percent.value_or(0) >= kBears ? share : 0;
}

}  // namespace

void AddScopeQualities(const session::LoadedTrace& trace, const Analysis& analysis,
                       std::vector<Quality>* list) {
  ScopeQualities(trace, analysis, list).Run();
}

bool IsOfStart(const Analysis& analysis) {
  constexpr double kHardly = 10;  // percent of the base
  if (!analysis.findings.empty() && analysis.findings.front().one_off) return true;
  const double busy = static_cast<double>(analysis.base.balance.busy_ns()) / 1e6;
  return !analysis.cpu && analysis.base.Percent(busy) < kHardly;
}

std::vector<const Quality*> BearingQualities(const Analysis& analysis) {
  std::vector<std::pair<double, const Quality*>> order;
  const bool of_start = IsOfStart(analysis);
  for (const Quality& one : analysis.quality) {
    const double bearing = BearingOf(one, analysis, of_start);
    if (bearing >= 0.5) order.emplace_back(-bearing, &one);
  }
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const Quality*> out;
  for (const auto& [bearing, one] : order)
    out.push_back(one);
  return out;
}

}  // namespace jarvis::findings
