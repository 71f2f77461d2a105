#include "findings/one/repeated_work.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "analysis/attribution/module_paths.h"
#include "analysis/host/host_names.h"
#include "base/text.h"
#include "findings/one/host_cause.h"
#include "findings/one/structure_maker.h"
#include "findings/one/thresholds.h"
#include "tree/recompute.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using trace::kNoEvent;

double HostMs(std::int64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

// Calls of one root module.
struct Passes {
  std::vector<EventIndex> calls;  // by start
};

class RepeatedWorkFinder {
 public:
  RepeatedWorkFinder(const Calls& calls, const WorkContext& context, std::vector<Finding>* out)
      : calls_(calls),
        events_(calls.events()),
        tree_(calls.trace.tree()),
        context_(context),
        out_(*out) {}

  void Run() {
    if (context_.training) {
      Recomputed();
    } else if (!context_.causal && context_.engine == Engine::kNoEngine) {
      // What generates or denoises runs its model again and again by design.
      RepeatedPasses();
    }
  }

 private:
  // ---- activation checkpointing

  // A stretch of a thread in which forward work is done again, and the outermost events of it.
  struct Recomputation {
    std::vector<EventIndex> events;  // by start, apart
  };

  std::vector<Recomputation> Recomputations() const {
    std::vector<Recomputation> found;
    for (EventIndex e = 0; e < events_.size(); ++e) {
      const bool frame = events_[e].kind == trace::EventKind::kPythonFunction &&
                         tree::IsRecomputeFrame(events_.name(e));
      if (frame && !InsideRecompute(e)) found.push_back({{e}});
    }
    return found.empty() ? RecomputationsByOps() : found;
  }

  // Where no frame tells: forward ops below an autograd node, which no backward pass calls. What
  // stands beside them and is recorded for autograd itself, as they are, belongs to them.
  std::vector<Recomputation> RecomputationsByOps() const {
    std::map<EventIndex, std::vector<EventIndex>> forward;  // by the node above, its children
    std::set<EventIndex> certain;
    for (const EventIndex e : tree_.preorder()) {
      const EventIndex up = tree_.parent(e);
      if (events_[e].kind != trace::EventKind::kCpuOp || up == kNoEvent) continue;
      if (events_.args_of(e).sequence == trace::kAbsent ||
          !analysis::IsAutogradNode(events_.name(up)))
        continue;
      if (analysis::IsAutogradNode(events_.name(e))) continue;
      forward[up].push_back(e);
      if (IsForwardOp(events_.name(e))) certain.insert(up);
    }
    std::vector<Recomputation> found;
    for (auto& [node, ops] : forward) {
      if (certain.contains(node)) found.push_back({std::move(ops)});
    }
    std::sort(found.begin(), found.end(), [](const Recomputation& x, const Recomputation& y) {
      return x.events.front() < y.events.front();
    });
    return found;
  }

  static bool IsForwardOp(std::string_view name) {
    constexpr std::string_view kNames[] = {
        "aten::conv1d",     "aten::conv2d",
        "aten::conv3d",     "aten::linear",
        "aten::batch_norm", "aten::layer_norm",
        "aten::group_norm", "aten::scaled_dot_product_attention"};
    return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
  }

  void Recomputed() {
    const std::vector<Recomputation> found = Recomputations();
    if (found.empty()) return;
    std::vector<EventIndex> frames;
    std::vector<analysis::HostStretch> stretches;
    std::vector<EventIndex> gpu;
    std::int64_t host_ns = 0, gpu_ns = 0;
    bool statistics = false;
    for (const Recomputation& one : found) {
      const EventIndex first = one.events.front();
      frames.push_back(first);
      const std::int64_t end = events_[one.events.back()].end_ns();
      stretches.push_back({events_[first].track, events_[first].ts_ns, end});
      host_ns += end - events_[first].ts_ns;
      for (const EventIndex top : one.events) {
        for (const EventIndex e : tree_.GpuBelow(top)) {
          gpu.push_back(e);
          gpu_ns += events_[e].dur_ns;
        }
        for (const EventIndex e : tree_.Subtree(top)) {
          statistics = statistics || (events_[e].kind == trace::EventKind::kCpuOp &&
                                      events_.name(e) == "aten::batch_norm");
        }
      }
    }
    std::vector<Fact> facts;
    if (statistics) {
      facts.push_back(
          StructureWords("statistics", "batch norm updates its statistics twice per step"));
    }
    facts.push_back(StructureWords(
        "effect", statistics ? "Running statistics of batch normalisation change with it, as they "
                               "are updated once a step then; gradients stay the same"
                             : "What is computed stays the same"));
    if (HasWrapper()) facts.push_back(StructureWords("wrapper", "`CheckpointWrapper`"));
    facts.push_back(NumberFact("host_ms", HostMs(host_ns) / StepsWith(frames), "ms"));
    const auto& devices = calls_.trace.trace().metadata.devices;
    if (!devices.empty() && devices.front().memory_bytes) {
      const double gib = static_cast<double>(*devices.front().memory_bytes) / (1 << 30);
      facts.push_back(StructureWords("memory", fmt::format("{:.0f} GiB", gib)));
    }
    Add(Pattern::kRecompute, "the recomputed forward pass", std::move(gpu), std::move(stretches),
        HostMs(std::max(host_ns, gpu_ns)), std::move(facts));
    // Where the host is ahead, its own time is no cost of a step: the time told is the GPU's.
    if (gpu_ns > 0) out_.back().time_ms = HostMs(gpu_ns);
  }

  // How many steps do such work, as not all that are marked need to.
  double StepsWith(const std::vector<EventIndex>& frames) const {
    const auto& steps = calls_.trace.steps();
    const auto count = std::count_if(steps.begin(), steps.end(), [&](const analysis::Step& step) {
      return std::any_of(frames.begin(), frames.end(), [&](EventIndex frame) {
        return events_[frame].ts_ns >= step.start_ns && events_[frame].ts_ns < step.end_ns;
      });
    });
    return static_cast<double>(std::max<std::ptrdiff_t>(1, count));
  }

  // The modules that a trainer puts around those whose work is done again.
  bool HasWrapper() const {
    return std::any_of(tree_.preorder().begin(), tree_.preorder().end(), [&](EventIndex e) {
      return events_[e].kind == trace::EventKind::kPythonFunction &&
             events_.name(e).find("CheckpointWrapper") != std::string_view::npos;
    });
  }

  bool InsideRecompute(EventIndex e) const {
    for (EventIndex up = tree_.parent(e); up != kNoEvent; up = tree_.parent(up)) {
      if (tree::IsRecomputeFrame(events_.name(up))) return true;
    }
    return false;
  }

  // ---- equal passes

  void RepeatedPasses() {
    std::map<std::string_view, Passes> roots;
    for (const EventIndex e : tree_.preorder()) {
      if (events_[e].kind != trace::EventKind::kPythonFunction) continue;
      if (analysis::ModuleClass(events_.name(e)).empty() || InsideModule(e)) continue;
      if (!tree_.GpuBelow(e).empty()) roots[events_.name(e)].calls.push_back(e);
    }
    for (auto& [name, passes] : roots) {
      std::stable_sort(passes.calls.begin(), passes.calls.end(), [&](EventIndex a, EventIndex b) {
        return events_[a].ts_ns < events_[b].ts_ns;
      });
      if (AreEqual(passes) && (InOneStep(passes) || InOneRequest(passes))) Tell(name, passes);
    }
  }

  bool InsideModule(EventIndex e) const {
    for (EventIndex up = tree_.parent(e); up != kNoEvent; up = tree_.parent(up)) {
      if (!analysis::ModuleClass(events_.name(up)).empty()) return true;
    }
    return false;
  }

  // The ops of a pass with the shapes of their arguments, in order.
  std::uint64_t SignatureOf(EventIndex pass) const {
    std::uint64_t signature = 1469598103934665603ULL;  // FNV-1a
    const auto mix = [&](std::uint64_t value) {
      signature = (signature ^ value) * 1099511628211ULL;
    };
    for (const EventIndex e : tree_.Subtree(pass)) {
      if (events_[e].kind != trace::EventKind::kCpuOp) continue;
      mix(events_[e].name);
      mix(events_.args_of(e).dims);
    }
    return signature;
  }

  // Same ops on the same shapes, and between them, each time for about as long, the host prepares
  // what comes next.
  bool AreEqual(const Passes& passes) const {
    if (static_cast<double>(passes.calls.size()) < limits::kPassesMin) return false;
    const std::uint64_t first = SignatureOf(passes.calls.front());
    std::vector<double> between;
    double inside = 0;
    for (std::size_t i = 0; i < passes.calls.size(); ++i) {
      const trace::Event& pass = events_[passes.calls[i]];
      if (SignatureOf(passes.calls[i]) != first || !HasShapes(passes.calls[i])) return false;
      inside = std::max(inside, HostMs(pass.dur_ns));
      if (i > 0) between.push_back(HostMs(pass.ts_ns - events_[passes.calls[i - 1]].end_ns()));
    }
    const auto [least, most] = std::minmax_element(between.begin(), between.end());
    constexpr double kPreparation = 0.25;  // of a pass; less is a loop over what is there already
    constexpr double kAlike = 1.5;
    return *least >= kPreparation * inside && *most <= kAlike * *least;
  }

  bool HasShapes(EventIndex pass) const {
    const auto subtree = tree_.Subtree(pass);
    return std::any_of(subtree.begin(), subtree.end(), [&](EventIndex e) {
      return events_[e].kind == trace::EventKind::kCpuOp && events_.args_of(e).dims != kNoString;
    });
  }

  // Passes of several steps are the steps.
  bool InOneStep(const Passes& passes) const {
    const std::int64_t begin = events_[passes.calls.front()].ts_ns;
    const std::int64_t end = events_[passes.calls.back()].end_ns();
    const auto& steps = calls_.trace.steps();
    return std::any_of(steps.begin(), steps.end(), [&](const analysis::Step& step) {
      return step.start_ns <= begin && end <= step.end_ns;
    });
  }

  bool InOneRequest(const Passes& passes) const {
    const std::int64_t end = events_[passes.calls.back()].end_ns();
    for (EventIndex up = tree_.parent(passes.calls.front()); up != kNoEvent;
         up = tree_.parent(up)) {
      if (analysis::IsPipelineCall(events_.name(up)) && events_[up].end_ns() >= end) return true;
    }
    return false;
  }

  void Tell(std::string_view name, const Passes& passes) {
    const std::size_t count = passes.calls.size();
    const std::int64_t begin = events_[passes.calls.front()].end_ns();
    const std::int64_t end = events_[passes.calls.back()].end_ns();
    std::vector<EventIndex> gpu;
    for (std::size_t i = 1; i < count; ++i) {
      const auto below = tree_.GpuBelow(passes.calls[i]);
      gpu.insert(gpu.end(), below.begin(), below.end());
    }
    double total = HostMs(end - begin);
    std::vector<Fact> facts = {StructureCount("repeats", count - 1),
                               NumberFact("each_ms", total / static_cast<double>(count - 1), "ms")};
    std::vector<analysis::HostStretch> stretches = {
        {events_[passes.calls.front()].track, begin, end}};
    if (HasItemPerLabel()) {
      facts.push_back(StructureWords(
          "call",
          "Give the processor all labels of an image at once: `processor(text=[labels], "
          "images=image)`. The pipeline runs one pass per label, so call the processor and the "
          "model directly"));
      TakeReads(passes, &stretches, &total, &facts);
    }
    Add(Pattern::kRepeatedPass, std::string(analysis::ModuleClass(name)), std::move(gpu),
        std::move(stretches), total, std::move(facts));
  }

  // One result for all labels is read once.
  void TakeReads(const Passes& passes, std::vector<analysis::HostStretch>* stretches,
                 double* total_ms, std::vector<Fact>* facts) const {
    const std::vector<EventIndex> reads = CallsAfter(passes);
    if (reads.empty()) return;
    const std::int64_t begin = events_[reads.front()].end_ns();
    const std::int64_t end = events_[reads.back()].end_ns();
    stretches->push_back({events_[reads.front()].track, begin, end});
    *total_ms += HostMs(end - begin);
    facts->push_back(NumberFact("after_ms", HostMs(end - begin), "ms"));
    facts->push_back(StructureText("after", std::string(events_.name(reads.front()))));
  }

  // Of one function behind the last pass as many calls as there are passes, from one caller: of
  // several such functions the one that takes longest. Empty: none is.
  std::vector<EventIndex> CallsAfter(const Passes& passes) const {
    const trace::Event& last = events_[passes.calls.back()];
    std::map<std::pair<EventIndex, StringId>, std::vector<EventIndex>> called;
    for (const EventIndex e : tree_.preorder()) {
      if (events_[e].track != last.track || events_[e].ts_ns < last.end_ns()) continue;
      if (events_[e].kind == trace::EventKind::kPythonFunction && tree_.parent(e) != kNoEvent)
        called[{tree_.parent(e), events_[e].name}].push_back(e);
    }
    std::vector<EventIndex> longest;
    std::int64_t longest_ns = 0;
    for (auto& [caller, calls] : called) {
      std::int64_t ns = 0;
      for (const EventIndex e : calls)
        ns += events_[e].dur_ns;
      if (calls.size() != passes.calls.size() || ns <= longest_ns) continue;
      longest_ns = ns;
      longest = std::move(calls);
    }
    return longest;
  }

  // The pipeline of transformers that pairs one image with each of its candidate labels.
  bool HasItemPerLabel() const {
    return std::any_of(tree_.preorder().begin(), tree_.preorder().end(), [&](EventIndex e) {
      return events_[e].kind == trace::EventKind::kPythonFunction &&
             events_.name(e).find("pipelines/zero_shot_object_detection.py") !=
                 std::string_view::npos;
    });
  }

  // ---- all

  void Add(Pattern rule, std::string subject, std::vector<EventIndex> gpu,
           std::vector<analysis::HostStretch> stretches, double host_ms, std::vector<Fact> facts) {
    const std::vector<EventIndex> events = gpu;
    Finding f =
        StructureFinding(calls_, rule, "Repeated work", std::move(subject), std::move(gpu),
                         {1, 1, 1}, {{}, "none of it", "time in this trace"}, std::move(facts));
    // Host and GPU go together, so that the simulation is asked about both at once.
    f.change_a.reset();
    HostCause cause;
    cause.count = stretches.size();
    cause.total_ms = host_ms;
    cause.changes = {analysis::ScaleHost{std::move(stretches), 0},
                     analysis::ScaleGpu{events, {0.0}}};
    f.time_ms = host_ms;
    f.savings_ms = Range{f.exclusive_ms, std::max(f.exclusive_ms, host_ms / 2), host_ms};
    f.exclusive_ms = host_ms;
    f.upper_bound_ms = host_ms;
    f.host = std::make_shared<const HostCause>(std::move(cause));
    // What is kept instead of computed again is the trainer's choice, not the model's.
    if (rule == Pattern::kRecompute) std::swap(f.path_a, f.path_b);
    out_.push_back(std::move(f));
  }

  const Calls& calls_;
  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  const WorkContext& context_;
  std::vector<Finding>& out_;
};

}  // namespace

void FindRepeatedWork(const Calls& calls, const WorkContext& context, std::vector<Finding>* out) {
  RepeatedWorkFinder(calls, context, out).Run();
}

}  // namespace jarvis::findings
