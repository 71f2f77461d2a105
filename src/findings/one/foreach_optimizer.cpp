#include "findings/one/foreach_optimizer.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "findings/one/structure_maker.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using trace::kNoEvent;

constexpr std::string_view kForeachPrefix = "aten::_foreach_";
constexpr std::string_view kStepMark = "Optimizer.step#";

// One call of an op over lists.
struct ForeachPass {
  EventIndex op = kNoEvent;
  std::vector<EventIndex> gpu;
  double us = 0;
  double tensors = 0;  // read and written, of the parameters' size
};

// One step of an optimizer.
struct ForeachStep {
  std::string_view optimizer;  // "AdamW"
  std::vector<ForeachPass> passes;
};

class ForeachFinder {
 public:
  explicit ForeachFinder(const Calls& calls) : events_(calls.events()), tree_(calls.trace.tree()) {
    for (EventIndex e = 0; e < events_.size(); ++e) {
      if (events_[e].kind == trace::EventKind::kUserAnnotation &&
          events_.name(e).starts_with(kStepMark)) {
        marks_[{events_[e].track, events_[e].ts_ns}] = e;
      }
    }
  }

  // Only what says whose step it is: gradients are clipped and averaged over lists, too.
  std::vector<ForeachStep> Run() const {
    std::map<EventIndex, ForeachStep> steps;
    for (const EventIndex e : tree_.preorder()) {
      if (events_[e].kind != trace::EventKind::kCpuOp) continue;
      if (!events_.name(e).starts_with(kForeachPrefix)) continue;
      const EventIndex step = StepOf(e);
      if (step == kNoEvent) continue;
      ForeachPass pass = PassOf(e);
      if (pass.gpu.empty()) continue;
      ForeachStep& one = steps[step];
      one.optimizer = OptimizerOf(step);
      one.passes.push_back(std::move(pass));
    }
    std::vector<ForeachStep> out;
    for (auto& [event, step] : steps) {
      DropSmall(&step.passes);
      out.push_back(std::move(step));
    }
    return out;
  }

 private:
  // By time: with Python frames a mark begins within the call that sets it, and holds nothing else.
  EventIndex StepOf(EventIndex e) const {
    const auto after = marks_.upper_bound({events_[e].track, events_[e].ts_ns});
    if (after == marks_.begin()) return kNoEvent;
    const EventIndex mark = std::prev(after)->second;
    const bool holds =
        events_[mark].track == events_[e].track && events_[e].end_ns() <= events_[mark].end_ns();
    return holds ? mark : kNoEvent;
  }

  std::string_view OptimizerOf(EventIndex step) const {
    const std::string_view name = events_.name(step).substr(kStepMark.size());
    return name.substr(0, name.find('.'));
  }

  ForeachPass PassOf(EventIndex op) const {
    ForeachPass pass;
    pass.op = op;
    for (const EventIndex e : tree_.GpuBelow(op)) {
      pass.gpu.push_back(e);
      pass.us += trace::MicrosOf(events_[e].dur_ns);
    }
    pass.tensors = TensorsOf(op);
    return pass;
  }

  // What it reads and the one that it writes.
  double TensorsOf(EventIndex op) const {
    std::string_view name = events_.name(op).substr(kForeachPrefix.size());
    while (name.ends_with('_'))
      name.remove_suffix(1);
    if (name == "addcmul") return 3;  // of a gradient by itself
    if (name == "addcdiv") return 4;
    if (name == "lerp") return 3;
    if (name == "zero") return 1;
    if (name != "add" && name != "sub" && name != "mul" && name != "div") return 2;
    std::size_t lists = 0;
    std::string_view types = events_.text(events_.args_of(op).types);
    for (std::size_t at = types.find("TensorList"); at != types.npos;
         at = types.find("TensorList", at + 1))
      ++lists;
    return lists >= 2 ? 3 : 2;
  }

  // Counters of steps are lists of single numbers.
  static void DropSmall(std::vector<ForeachPass>* passes) {
    constexpr double kSmall = 0.1;  // of the longest
    double longest = 0;
    for (const ForeachPass& pass : *passes)
      longest = std::max(longest, pass.us);
    std::erase_if(*passes, [&](const ForeachPass& pass) { return pass.us < kSmall * longest; });
  }

  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  std::map<std::pair<std::uint32_t, std::int64_t>, EventIndex> marks_;  // by thread and begin
};

// What a fused kernel reads and writes, of the parameters' size; 0: there is none for it.
double FusedTensors(const ForeachStep& step) {
  if (step.optimizer == "Adam" || step.optimizer == "AdamW") return 7;
  if (step.optimizer != "SGD") return 0;
  return step.passes.size() > 1 ? 5 : 3;
}

// One op of each step stays, as long as the fused kernel takes; the host makes one call.
std::vector<analysis::Change> OneUpdateEach(const trace::EventStore& events,
                                            const std::vector<const ForeachStep*>& steps,
                                            double saved_part) {
  analysis::RemoveGpu goes;
  analysis::SetGpuTime stays;
  analysis::ScaleHost host;
  host.factor = 0;
  for (const ForeachStep* step : steps) {
    double us = 0;
    for (const ForeachPass& pass : step->passes)
      us += pass.us;
    const ForeachPass& last = step->passes.back();
    for (const ForeachPass& pass : step->passes) {
      if (&pass != &last) goes.events.insert(goes.events.end(), pass.gpu.begin(), pass.gpu.end());
    }
    for (const EventIndex e : last.gpu) {
      stays.events.push_back(e);
      stays.us.push_back((1 - saved_part) * us * trace::MicrosOf(events[e].dur_ns) / last.us);
    }
    const trace::Event& first = events[step->passes.front().op];
    host.stretches.push_back({first.track, first.ts_ns, events[last.op].ts_ns});
  }
  return {std::move(goes), std::move(stays), std::move(host)};
}

}  // namespace

void FindForeachOptimizer(const Calls& calls, const WorkContext& context,
                          std::vector<CategoryAnalysis>* categories, std::vector<Finding>* out) {
  if (context.before_torch2) return;
  const std::vector<ForeachStep> steps = ForeachFinder(calls).Run();
  std::vector<const ForeachStep*> fusible;
  std::vector<EventIndex> gpu;
  double now = 0, fused = 0;
  std::size_t passes = 0;
  for (const ForeachStep& step : steps) {
    const double least = FusedTensors(step);
    double tensors = 0;
    for (const ForeachPass& pass : step.passes)
      tensors += pass.tensors;
    if (least <= 0 || tensors <= least || step.passes.size() < 2) continue;
    fusible.push_back(&step);
    now += tensors;
    fused += least;
    passes = std::max(passes, step.passes.size());
    for (const ForeachPass& pass : step.passes)
      gpu.insert(gpu.end(), pass.gpu.begin(), pass.gpu.end());
  }
  if (fusible.empty()) return;
  // The fused kernel does more arithmetic per byte and may not reach the bandwidth of plain passes.
  const double most = 1 - fused / now;
  const Range part = {0.6 * most, 0.85 * most, most};
  Finding f = StructureFinding(
      calls, Pattern::kForeachOptimizer, "Optimizer", std::string(fusible.front()->optimizer), gpu,
      part, {{}, "one pass over parameters and their state", "tensors that the ops move"},
      {StructureCount("passes", passes),
       NumberFact("tensors", now / static_cast<double>(fusible.size()), {}),
       NumberFact("fused_tensors", fused / static_cast<double>(fusible.size()), {})});
  f.change_a->exact = OneUpdateEach(calls.events(), fusible, part.mid);
  f.path_b = std::move(f.path_a);
  f.change_b = std::move(f.change_a);
  f.path_a.clear();
  f.change_a.reset();
  ClaimOperations(calls.events(), Marked(gpu, calls.events().size()), categories);
  out->push_back(std::move(f));
}

}  // namespace jarvis::findings
