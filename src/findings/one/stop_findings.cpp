#include "findings/one/stop_findings.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "analysis/host/allocator_calls.h"
#include "analysis/host/runtime_calls.h"
#include "base/median.h"
#include "base/number_text.h"
#include "findings/one/structure_maker.h"
#include "findings/one/system_findings.h"
#include "findings/one/thresholds.h"
#include "findings/one/wait_causes.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using trace::kNoEvent;
using HostTime = IntervalSet<std::int64_t>;

class StopMaker {
 public:
  explicit StopMaker(const HostEvidence& evidence)
      : e_(evidence), events_(evidence.trace.events()), tree_(evidence.trace.tree()) {}

  StopFindings Run() {
    Allocator();
    Python();
    out_.intervals = Union(std::move(out_.intervals));
    return std::move(out_);
  }

 private:
  bool Matters(double ms) const {
    return e_.base_ms > 0 && ms >= limits::kStopShareMin / 100 * e_.base_ms;
  }
  static double LongestMs(const HostTime& time) {
    std::int64_t ns = 0;
    for (const Interval<std::int64_t>& one : time)
      ns = std::max(ns, one.end - one.start);
    return MillisOf(ns);
  }
  void Add(const char* member, std::string subject, Pattern rule, std::vector<Fact> facts,
           const HostTime& time, std::vector<analysis::Change> changes, HostTime unsure = {}) {
    HostCause cause;
    cause.kind = HostCauseKind::kStop;
    cause.count = time.size();
    cause.total_ms = MillisOf(Length(time));
    cause.longest_ms = LongestMs(time);
    cause.idle_ms = cause.total_ms;
    cause.once = 2 * Length(e_.scope.Of(time)) < Length(time);
    cause.changes = std::move(changes);
    cause.changes.emplace_back(analysis::ScaleHost{StretchesOf(time), 0});
    if (!unsure.empty()) {
      unsure.insert(unsure.end(), time.begin(), time.end());
      cause.most = {analysis::ScaleHost{StretchesOf(Union(std::move(unsure))), 0}};
    }
    Finding f = SystemFinding("cpu_idle", "CPU/Idle Analysis", std::move(subject));
    f.members = {member};
    f.rule = rule;
    f.count = cause.count;
    f.time_ms = f.exclusive_ms = cause.total_ms;
    f.upper_bound_ms = cause.total_ms;
    f.savings_ms = Range{0, cause.idle_ms, cause.idle_ms};
    f.patterns.push_back({rule, std::move(facts)});
    f.path_a = {{Advice::kRule, {}, {}}};
    if (rule != Pattern::kInterpreterLock) f.path_b = {{Advice::kRule, {}, {}}};
    f.host = std::make_shared<const HostCause>(std::move(cause));
    out_.findings.push_back(std::move(f));
    out_.intervals.insert(out_.intervals.end(), time.begin(), time.end());
  }

  void Allocator() {
    std::vector<EventIndex> calls, steady;
    for (const EventIndex e : tree_.preorder()) {
      if (!trace::IsLaunchCall(events_[e].kind)) continue;
      calls.push_back(e);
      if (e_.scope.Has(events_[e].ts_ns)) steady.push_back(e);
    }
    const analysis::AllocatorCalls found = analysis::FindAllocatorCalls(events_, steady);
    if (found.churns()) return GivenBack(found.calls, found.rounds, Pattern::kAllocatorChurn);
    // A step that has it is longer than the others, and may be left out for that.
    out_.flushes = analysis::FindAllocatorCalls(events_, calls).flushes;
    if (!out_.flushes.empty()) GivenBack(out_.flushes, 0, Pattern::kAllocatorFlush);
  }

  // `rounds`: of giving back and taking again; 0: the cache is emptied.
  void GivenBack(const std::vector<EventIndex>& calls, std::size_t rounds, Pattern rule) {
    HostTime time;
    analysis::RemoveWaits waits;
    std::map<std::string, std::int64_t> ops;
    std::map<EventIndex, std::int64_t> in_calls;  // of an op
    for (const EventIndex call : calls) {
      time.push_back({events_[call].ts_ns, events_[call].end_ns()});
      if (analysis::RuntimeKindOf(events_.name(call)) == analysis::RuntimeKind::kFree)
        waits.calls.push_back(call);
      const EventIndex op = tree_.Enclosing(events_, call, trace::EventKind::kCpuOp);
      if (op == kNoEvent) continue;
      ops[std::string(events_.name(op))] += events_[call].dur_ns;
      in_calls[op] += events_[call].dur_ns;
    }
    // An op that is little else than these calls takes next to nothing without them.
    for (const auto& [op, ns] : in_calls) {
      if (rounds > 0 && 2 * ns > events_[op].dur_ns && tree_.GpuBelow(op).empty())
        time.push_back({events_[op].ts_ns, events_[op].end_ns()});
    }
    time = Union(std::move(time));
    if (!Matters(MillisOf(Length(time)))) return;
    const std::string first(events_.name(calls.front()));
    const bool hip = first.starts_with("hip");
    const auto most = std::max_element(
        ops.begin(), ops.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    std::vector<Fact> facts = {
        StructureCount("calls", calls.size()),
        StructureWords("free", hip ? "`hipFree`" : "`cudaFree`"),
        StructureWords("setting", hip ? "`PYTORCH_HIP_ALLOC_CONF=expandable_segments:True`"
                                      : "`PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`")};
    if (rounds > 0) facts.push_back(StructureCount("rounds", rounds));
    if (most != ops.end()) facts.push_back(StructureText("op", most->first));
    Add("allocator", hip ? "hipMalloc and hipFree calls" : "cudaMalloc and cudaFree calls", rule,
        std::move(facts), time, {std::move(waits)});
    out_.findings.back().count = calls.size();  // one right behind the other are one stretch
  }

  // Stops with a holder are one finding, those without another.
  void Python() {
    std::vector<const analysis::HostStop*> held, alone;
    HostTime unsure;
    for (const analysis::HostStop& stop : e_.stops) {
      if (!e_.scope.Has(stop.begin_ns) || IsExplained(stop)) continue;
      if (stop.unsure) {
        unsure.push_back({stop.begin_ns, stop.end_ns});
      } else {
        (stop.holder != kNoEvent ? held : alone).push_back(&stop);
      }
    }
    // Without stacks: of a host without CPU they are some of many, and one or two may be its own.
    const auto in_mark = [&](const analysis::HostStop* stop) {
      return events_[stop->owner].kind != trace::EventKind::kPythonFunction;
    };
    constexpr std::size_t kInMarksMin = 3;
    const auto in_marks = static_cast<std::size_t>(std::ranges::count_if(alone, in_mark));
    if (in_marks < std::max(kInMarksMin, e_.descheduled.pieces.size()))
      std::erase_if(alone, in_mark);
    Stops(held, Pattern::kInterpreterLock, {});
    Stops(alone, Pattern::kPythonStops, std::move(unsure));
  }

  bool IsExplained(const analysis::HostStop& stop) const {
    const double other_ms =
        analysis::MsInside(e_.profiling.artefact, stop.begin_ns, stop.end_ns) +
        analysis::MsInside(e_.descheduled.intervals, stop.begin_ns, stop.end_ns) +
        e_.first_calls.MsWithin(stop.begin_ns, stop.end_ns);
    return 2 * other_ms > MillisOf(stop.ns());
  }

  void Stops(const std::vector<const analysis::HostStop*>& stops, Pattern rule, HostTime unsure) {
    HostTime time;
    std::map<std::string, std::int64_t> names;  // of holders, or of functions that stand
    const analysis::HostStop* longest = nullptr;
    for (const analysis::HostStop* stop : stops) {
      time.push_back({stop->begin_ns, stop->end_ns});
      const EventIndex about = stop->holder != kNoEvent ? stop->holder : stop->owner;
      names[std::string(events_.name(about))] += stop->ns();
      if (longest == nullptr || stop->ns() > longest->ns()) longest = stop;
    }
    time = Union(std::move(time));
    if (longest == nullptr || !Matters(MillisOf(Length(time)))) return;
    const auto most =
        std::max_element(names.begin(), names.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    std::vector<Fact> facts = {StructureCount("stops", time.size()),
                               StructureWords("longest", ThreeDigits(LongestMs(time)) + " ms"),
                               StructureText("place", std::string(events_.name(longest->owner))),
                               StructureText("holder", most->first)};
    const bool lock = rule == Pattern::kInterpreterLock;
    Add(lock ? "interpreter_lock" : "python_stops",
        lock ? most->first : std::string("garbage collection [inferred]"), rule, std::move(facts),
        time, {}, std::move(unsure));
  }

  const HostEvidence& e_;
  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  StopFindings out_;
};

}  // namespace

StopFindings FindStops(const HostEvidence& evidence) {
  return StopMaker(evidence).Run();
}

}  // namespace jarvis::findings
