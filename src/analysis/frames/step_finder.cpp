#include "analysis/frames/step_finder.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include <fmt/format.h>

#include "analysis/attribution/module_paths.h"
#include "analysis/attribution/steps.h"
#include "analysis/frames/engine_iterations.h"
#include "analysis/frames/launch_sequence.h"
#include "analysis/frames/layer_scopes.h"
#include "analysis/frames/repetition.h"
#include "base/text.h"
#include "trace/step_mark.h"

namespace jarvis::analysis {
namespace {

using trace::EventKind;

constexpr double kNearlyAll = 0.9;
constexpr double kPartOfRun = 0.02;  // of the time of the module with most: no trifle

// Scopes that communication libraries and torch itself open many times in a step.
bool IsPartOfStep(std::string_view name) {
  static constexpr std::string_view kPrefixes[] = {
      "nccl:", "gloo:", "mpi:", "ucc:", "xccl:", "hccl:", "c10d", "DistributedDataParallel"};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

class StepFinder {
 public:
  StepFinder(const FrameFacts& facts, const StepTaker& take)
      : facts_(facts), take_(take), layers_(facts) {}

  bool Run() {
    if (Offer(FromMarks())) return true;
    if (!facts_.host_events()) return false;
    CollectScopes();
    return Offer(FromEngine()) || Offer(FromModules()) || Offer(FromLoops()) ||
           Offer(Repeating()) || OfferLayers() || Offer(FromKernels());
  }

 private:
  bool Offer(FoundSteps found) const {
    if (found.steps.empty()) return false;
    FindHoles(&found);
    return take_(std::move(found));
  }

  const trace::Event& At(EventIndex e) const { return facts_.events[e]; }

  FoundSteps FromMarks() const {
    FoundSteps out;
    if (facts_.marks.empty()) return out;
    out.unit = TimeUnit::kStep;
    out.source = StepSource::kMarks;
    out.name = trace::StepMarkName(facts_.events.name(facts_.marks.front()));
    const std::vector<EventIndex> marks = WithoutEmptyMarks(facts_.events, facts_.marks);
    out.open_end = MarkAPart(marks);
    for (std::size_t i = 0; i < marks.size(); ++i) {
      const std::string_view name = facts_.events.name(marks[i]);
      std::int64_t end = At(marks[i]).end_ns();
      if (i + 1 < marks.size()) {
        // What is drawn on a stream ends with its work: the step lasts until the next begins.
        const std::int64_t next = At(marks[i + 1]).ts_ns;
        end = facts_.host_events() && !out.open_end ? std::min(end, next) : next;
      }
      out.steps.push_back(
          {std::string(name), trace::StepNumberOf(name).value_or(0), {At(marks[i]).ts_ns, end}});
    }
    return out;
  }

  // Whether most marks stand around a part of what repeats (the launches of a program): a step is
  // then from one to the next.
  bool MarkAPart(const std::vector<EventIndex>& marks) const {
    std::size_t parts = 0;
    for (std::size_t i = 0; i + 1 < marks.size(); ++i) {
      if (!Covers(At(marks[i]).dur_ns, {At(marks[i]).ts_ns, At(marks[i + 1]).ts_ns})) ++parts;
    }
    return 2 * parts >= marks.size();
  }

  // When whatever was recorded last before `at` was over, and began after `from`.
  std::int64_t LastBefore(std::int64_t from, std::int64_t at) const {
    std::int64_t last = from;
    const auto work = std::partition_point(facts_.busy.begin(), facts_.busy.end(),
                                           [&](const TimeSpan& piece) { return piece.start < at; });
    if (work != facts_.busy.begin()) last = std::max(last, std::prev(work)->end);
    const auto op = std::partition_point(facts_.in_ops.begin(), facts_.in_ops.end(),
                                         [&](const TimeSpan& piece) { return piece.start < at; });
    if (op != facts_.in_ops.begin()) last = std::max(last, std::prev(op)->end);
    const auto first = std::partition_point(facts_.on_thread.begin(), facts_.on_thread.end(),
                                            [&](EventIndex e) { return At(e).ts_ns < from; });
    for (auto e = first; e != facts_.on_thread.end() && At(*e).ts_ns < at; ++e)
      last = std::max(last, At(*e).end_ns());
    return std::min(last, at);
  }

  // Where numbers of steps are missing over more than half a step, or nothing at all is recorded
  // for as long as many steps.
  void FindHoles(FoundSteps* found) const {
    constexpr std::int64_t kMany = 10;
    std::vector<FoundStep>& steps = found->steps;
    if (steps.size() < 2 || found->source == StepSource::kKernelPeriod) return;
    std::vector<std::int64_t> ends, lengths;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::int64_t until = i + 1 < steps.size() ? steps[i + 1].host.start : steps[i].host.end;
      ends.push_back(LastBefore(steps[i].host.start, until));
      lengths.push_back(ends.back() - steps[i].host.start);
    }
    const std::int64_t middle = *MedianOf(lengths);
    for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
      const TimeSpan gap{ends[i], steps[i + 1].host.start};
      const bool numbered = found->source == StepSource::kMarks;
      const bool missing = numbered && steps[i + 1].number > steps[i].number + 1;
      if (2 * (gap.end - gap.start) <= middle) continue;
      if (!missing && gap.end - gap.start <= kMany * middle) continue;
      StepHole& hole = found->holes.emplace_back();
      hole.span = gap;
      if (missing) {
        hole.first = steps[i].number + 1;
        hole.last = steps[i + 1].number - 1;
      }
      steps[i].host.end = std::min(steps[i].host.end, gap.start);
    }
  }

  struct Scope {
    std::string name;
    bool module = false;
    std::vector<EventIndex> events;  // by start, apart
    std::int64_t total_ns = 0;
  };

  // Annotations and outermost calls of modules or pipelines by name, outermost of their name.
  void CollectScopes() {
    Places known;
    Places loop_places;
    std::int64_t module_end = trace::kAbsent;
    for (const EventIndex e : facts_.on_thread) {
      const trace::Event& event = At(e);
      const std::string_view name = facts_.events.name(e);
      const bool module = event.kind == EventKind::kPythonFunction &&
                          (!ModuleClass(name).empty() || IsPipelineCall(name));
      const bool annotation = event.kind == EventKind::kUserAnnotation ||
                              (event.kind == EventKind::kCpuOp && IsScopeName(name));
      if (!module && !annotation) continue;
      if (annotation && (name.starts_with("Optimizer.") || name.starts_with("enumerate("))) {
        AddTo(std::string(name), false, e, &loop_places, &loops_);
        continue;
      }
      if (annotation && IsPartOfStep(name)) continue;
      if (module) {
        if (event.ts_ns < module_end) continue;
        module_end = event.end_ns();
      }
      const std::string_view module_class = ModuleClass(name);
      AddTo(module ? std::string(module_class.empty() ? name : module_class) : WithoutDigits(name),
            module, e, &known, &scopes_);
    }
    std::erase_if(scopes_,
                  [&](const Scope& scope) { return !scope.module && layers_.Has(scope.name); });
  }

  using Places = std::map<std::pair<bool, std::string>, std::size_t>;
  void AddTo(std::string key, bool module, EventIndex e, Places* places,
             std::vector<Scope>* scopes) const {
    const auto [found, added] = places->try_emplace({module, std::move(key)}, scopes->size());
    if (added) scopes->push_back({std::string(facts_.events.name(e)), module, {}, 0});
    Scope& scope = (*scopes)[found->second];
    if (!scope.events.empty() && At(e).ts_ns < At(scope.events.back()).end_ns()) return;
    scope.events.push_back(e);
    scope.total_ns += At(e).dur_ns;
  }

  // From the thread's first op or scope to its last: Python frames stay open around the profiler's
  // start and stop, and a last synchronisation is the profiler's own.
  TimeSpan Busy() const {
    TimeSpan span{};
    bool any = false;
    for (const EventIndex e : facts_.on_thread) {
      if (At(e).kind != EventKind::kCpuOp && At(e).kind != EventKind::kUserAnnotation) continue;
      span.start = any ? std::min(span.start, At(e).ts_ns) : At(e).ts_ns;
      span.end = any ? std::max(span.end, At(e).end_ns()) : At(e).end_ns();
      any = true;
    }
    if (!any) return facts_.thread;
    // Another thread may launch after this one's last op: autograd's.
    if (!facts_.launched.empty())
      span.end = std::max(span.end, At(facts_.launched.back().launch).end_ns());
    return span;
  }

  static bool Covers(std::int64_t length, TimeSpan all) {
    return static_cast<double>(length) >= kNearlyAll * static_cast<double>(all.end - all.start);
  }

  // Iterations of an inference server, requests of one that makes images.
  FoundSteps FromEngine() const {
    FoundSteps out;
    for (const NamedIteration& one : EngineIterations(facts_)) {
      const std::string name(facts_.events.name(one.annotation));
      if (out.steps.empty()) {
        out.name = name;
        out.source = StepSource::kAnnotation;
        out.unit = one.diffusion ? TimeUnit::kRequest : TimeUnit::kIteration;
        out.of_engine = true;
      }
      out.steps.push_back({name,
                           static_cast<std::int64_t>(out.steps.size() + 1),
                           {At(one.annotation).ts_ns, At(one.annotation).end_ns()}});
    }
    return out;
  }

  // Of the outermost modules the class that most time passes in; one call is no unit, as it leaves
  // out what the loop does before and after.
  FoundSteps FromModules() const {
    const Scope* best = nullptr;
    for (const Scope& scope : scopes_) {
      if (scope.module && (best == nullptr || scope.total_ns > best->total_ns)) best = &scope;
    }
    if (best == nullptr || best->events.size() < 2) return {};
    // Other outermost modules that come less often: one run of several models, and these its parts.
    for (const Scope& scope : scopes_) {
      if (scope.module && 2 * scope.events.size() <= best->events.size() &&
          static_cast<double>(scope.total_ns) > kPartOfRun * static_cast<double>(best->total_ns)) {
        return {};
      }
    }
    FoundSteps out = FromScope(*best);
    out.source = StepSource::kModule;
    out.unit = TimeUnit::kPass;
    return out;
  }

  FoundSteps FromLoops() const {
    constexpr std::size_t kSeveral = 3;
    for (const std::string_view prefix :
         {"enumerate(DataLoader)", "Optimizer.zero_grad", "Optimizer.step"}) {
      const Scope* best = nullptr;
      for (const Scope& scope : loops_) {
        if (!scope.name.starts_with(prefix) || scope.events.size() < kSeveral) continue;
        if (best == nullptr || scope.events.size() > best->events.size()) best = &scope;
      }
      if (best != nullptr) return FromScope(*best);
    }
    return {};
  }

  FoundSteps Repeating() const {
    const TimeSpan all = Busy();
    const Scope* best = nullptr;
    const auto covers = [&](const Scope& scope) {
      return !scope.module && scope.events.size() >= 2 &&
             Covers(At(scope.events.back()).end_ns() - At(scope.events.front()).ts_ns, all);
    };
    for (const Scope& scope : scopes_) {
      if (covers(scope) && (best == nullptr || scope.total_ns > best->total_ns)) best = &scope;
    }
    if (best == nullptr) return {};
    // A step begins with whatever comes first of those that come as often.
    for (const Scope& scope : scopes_) {
      if (scope.events.size() == best->events.size() && covers(scope) &&
          At(scope.events.front()).ts_ns < At(best->events.front()).ts_ns) {
        best = &scope;
      }
    }
    FoundSteps out = FromScope(*best);
    if (ArePartsOfOne(StartsOf(out))) return {};
    out.inferred = true;
    return out;
  }

  // Passes, where no scope stands around them: from a layer to its next run.
  bool OfferLayers() const {
    return !layers_.empty() && (Offer(FromLayers(layers_.PassesFromLowest())) ||
                                Offer(FromLayers(layers_.PassesFromFirst())));
  }
  FoundSteps FromLayers(const std::vector<std::int64_t>& starts) const {
    if (starts.empty()) return {};
    FoundSteps out = StartToStart(starts, Busy().end);
    out.source = StepSource::kAnnotation;
    out.unit = TimeUnit::kPass;
    out.name = std::string(layers_.first());
    out.to_the_end = true;
    out.inferred = true;
    return out;
  }

  FoundSteps FromScope(const Scope& scope) const {
    std::vector<std::int64_t> starts;
    for (const EventIndex e : scope.events)
      starts.push_back(At(e).ts_ns);
    const std::int64_t last = At(scope.events.back()).end_ns();
    FoundSteps out = StartToStart(starts, std::max(Busy().end, last));
    out.source = StepSource::kAnnotation;
    out.unit = TimeUnit::kIteration;
    out.name = scope.name;
    out.to_the_end = true;
    return out;
  }

  static std::vector<std::int64_t> StartsOf(const FoundSteps& found) {
    std::vector<std::int64_t> starts;
    for (const FoundStep& step : found.steps)
      starts.push_back(step.host.start);
    return starts;
  }

  FoundSteps FromKernels() const {
    const LaunchSequence sequence = LaunchesIn(facts_, facts_.recording);
    const auto found = FindRepetition(sequence.items, facts_.recording.end);
    if (!found || found->coverage < kNearlyAll) return {};
    std::vector<std::int64_t> starts;
    for (const std::size_t at : found->starts)
      starts.push_back(sequence.items[at].at_ns);
    if (ArePartsOfOne(starts)) return {};
    const std::int64_t end =
        found->end < sequence.items.size() ? sequence.items[found->end].at_ns : facts_.thread.end;
    // A period that leaves out a kernel of its own before or behind it is a layer, not the whole.
    if (!HoldsWhole(sequence, *found) && !FollowsPassOfItsOps(sequence, *found)) return {};
    FoundSteps out = StartToStart(starts, end);
    out.source = StepSource::kKernelPeriod;
    out.unit = TimeUnit::kIteration;
    out.name = std::string(facts_.events.name(sequence.work[found->starts.front()].event));
    return out;
  }

  bool HoldsWhole(const LaunchSequence& sequence, const Repetition& found) const {
    const auto kernel = [&](std::size_t at) { return At(sequence.work[at].event).name; };
    std::unordered_set<StringId> inside;
    for (std::size_t at = found.starts.front(); at < found.end; ++at)
      inside.insert(kernel(at));
    for (std::size_t at = 0; at < sequence.work.size(); ++at) {
      const bool outside = at < found.starts.front() || at >= found.end;
      if (outside && !inside.contains(kernel(at))) return false;
    }
    return true;
  }

  // The op that launched it; without one the kernel.
  StringId OpOf(const LaunchedWork& work) const {
    EventIndex op = work.launch;
    while (op != trace::kNoEvent && At(op).kind != trace::EventKind::kCpuOp)
      op = facts_.tree.parent(op);
    return op == trace::kNoEvent ? At(work.event).name : At(op).name;
  }

  std::unordered_map<StringId, std::size_t> OpsIn(const LaunchSequence& sequence, std::size_t from,
                                                  std::size_t to) const {
    std::unordered_map<StringId, std::size_t> ops;
    for (std::size_t at = from; at < to; ++at)
      ++ops[OpOf(sequence.work[at])];
    return ops;
  }

  // What comes before runs the same ops as a period does, over other sizes and so in other kernels:
  // a prompt before the tokens that are generated one by one.
  bool FollowsPassOfItsOps(const LaunchSequence& sequence, const Repetition& found) const {
    if (found.starts.size() < 2) return false;
    const auto before = OpsIn(sequence, 0, found.starts[0]);
    const std::size_t middle = found.starts.size() / 2;
    std::size_t there = 0, all = 0;
    for (const auto& [op, count] :
         OpsIn(sequence, found.starts[middle - 1], found.starts[middle])) {
      const auto other = before.find(op);
      there += other == before.end() ? 0 : std::min(count, other->second);
      all += count;
    }
    return static_cast<double>(there) >= kNearlyAll * static_cast<double>(all);
  }

  // What repeats within one launch, within one call of a module, or from layer to layer is a part
  // of a pass: nobody's step.
  bool ArePartsOfOne(const std::vector<std::int64_t>& starts) const {
    const auto several_in = [&](std::int64_t from, std::int64_t to) {
      const auto first = std::lower_bound(starts.begin(), starts.end(), from);
      return std::upper_bound(first, starts.end(), to) - first > 1;
    };
    if (std::adjacent_find(starts.begin(), starts.end()) != starts.end()) return true;
    if (layers_.ArePartsOfPass(starts)) return true;
    return std::any_of(scopes_.begin(), scopes_.end(), [&](const Scope& scope) {
      return scope.module &&
             std::any_of(scope.events.begin(), scope.events.end(),
                         [&](EventIndex e) { return several_in(At(e).ts_ns, At(e).end_ns()); });
    });
  }

  static FoundSteps StartToStart(const std::vector<std::int64_t>& starts, std::int64_t end) {
    FoundSteps out;
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const std::int64_t until = i + 1 < starts.size() ? starts[i + 1] : std::max(end, starts[i]);
      const auto number = static_cast<std::int64_t>(i + 1);
      out.steps.push_back({std::to_string(number), number, {starts[i], until}});
    }
    return out;
  }

  const FrameFacts& facts_;
  const StepTaker& take_;
  LayerScopes layers_;
  std::vector<Scope> scopes_;  // by first start
  std::vector<Scope> loops_;   // of loaders and optimizers, by first start
};

}  // namespace

std::string_view StepSourceText(StepSource source) {
  switch (source) {
    case StepSource::kMarks: return "marks";
    case StepSource::kAnnotation: return "annotation";
    case StepSource::kModule: return "module";
    case StepSource::kKernelPeriod: return "kernel_period";
    case StepSource::kNone: break;
  }
  return "none";
}

std::string_view TimeUnitText(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kStep: return "step";
    case TimeUnit::kIteration: return "iteration";
    case TimeUnit::kRequest: return "request";
    case TimeUnit::kPass: return "pass";
    case TimeUnit::kRecording: break;
  }
  return "recording";
}

std::string UnitText(TimeUnit unit, const UnitGroup& group) {
  if (group.size == 1) return std::string(TimeUnitText(unit));
  return fmt::format("group of {} {}", group.size, PluralOfUnit(TimeUnitText(unit)));
}

std::string PluralOfUnit(std::string_view text) {
  constexpr std::string_view kGroup = "group";
  if (text.starts_with("group of")) return fmt::format("groups{}", text.substr(kGroup.size()));
  return fmt::format("{}{}", text, text.ends_with('s') ? "es" : "s");
}

bool OfferSteps(const FrameFacts& facts, const StepTaker& take) {
  return StepFinder(facts, take).Run();
}

NoSteps WhyNoSteps(const FrameFacts& facts) {
  if (!facts.host_events())
    return {"no host events are recorded, so there is nothing that marks a step"};
  if (const LayerScopes layers(facts); !layers.empty() && layers.OfPartOfPass()) {
    constexpr std::size_t kNameBytesMax = 80;
    const auto named = [](std::string_view name) {
      return OneLine(Utf8Prefix(name, kNameBytesMax));
    };
    return {fmt::format("no whole pass is in the recording, which goes from \"{}\" to \"{}\": what "
                        "repeats in it are layers",
                        named(layers.first()), named(layers.last())),
            true};
  }
  return {
      "no ProfilerStep marks (schedule= with prof.step()), no annotation or module call that "
      "repeats all over the recording, no kernel sequence that does"};
}

}  // namespace jarvis::analysis
