#include "findings/one/autocast_weights.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/frames/base_of_time.h"
#include "base/job.h"
#include "findings/one/shapes.h"
#include "findings/one/structure_maker.h"
#include "findings/one/thresholds.h"
#include "findings/one/unit_ops.h"
#include "perf/platform.h"
#include "session/trace_frames.h"
#include "trace/by_name.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using trace::kNoEvent;

constexpr std::size_t kCastsLeast = 4;    // of a unit
constexpr double kLeastOfTraining = 0.5;  // the optimizer's copy is cast as well, in fewer calls

// The operands of a call, as it was recorded.
struct Operands {
  std::vector<Shape> shapes;
  std::vector<std::string> types;
};

// A cast that autocast makes, and in training what casts the gradient back.
struct AutocastCast {
  EventIndex cast = kNoEvent;
  EventIndex backward = kNoEvent;  // autograd's node; kNoEvent: none
};

struct AutocastCasts {
  std::vector<AutocastCast> weights;
  std::vector<AutocastCast> others;  // of activations
  std::string to;                    // "bf16"
};

bool IsHalfType(std::string_view type) {
  const std::string one = ShortType(type);
  return one == "bf16" || one == "fp16";
}

class AutocastFinder {
 public:
  explicit AutocastFinder(const Calls& calls)
      : events_(calls.events()),
        tree_(calls.trace.tree()),
        is_cast_(events_, [](std::string_view name) { return name == "aten::to"; }) {}

  AutocastCasts Run() {
    std::map<EventIndex, std::vector<EventIndex>> casts;  // by the op around them
    for (const EventIndex e : tree_.preorder()) {
      if (events_[e].kind != trace::EventKind::kCpuOp || !is_cast_.Of(e)) continue;
      const EventIndex op = tree_.parent(e);
      if (op == kNoEvent || events_[op].kind != trace::EventKind::kCpuOp) continue;
      if (!tree_.GpuBelow(e).empty()) casts[op].push_back(e);
    }
    for (const auto& [op, of_op] : casts)
      Judge(op, of_op);
    return std::move(out_);
  }

 private:
  Operands OperandsOf(EventIndex op) const {
    const trace::Args& args = events_.args_of(op);
    if (args.dims == kNoString || args.types == kNoString) return {};
    Operands operands{ParseShapes(events_.text(args.dims)), ParseTypes(events_.text(args.types))};
    // Lists of tensors have more shapes than types: nothing tells which is whose.
    return operands.shapes.size() == operands.types.size() ? operands : Operands{};
  }

  // The same op with the operands that autocast made; kNoEvent: this is no op that it wraps.
  EventIndex InnerOf(EventIndex op) const {
    for (const EventIndex child : tree_.Children(op)) {
      if (events_[child].kind == trace::EventKind::kCpuOp &&
          events_[child].name == events_[op].name)
        return child;
    }
    return kNoEvent;
  }

  void Judge(EventIndex op, const std::vector<EventIndex>& casts) {
    const EventIndex inner = InnerOf(op);
    if (inner == kNoEvent) return;
    const Operands before = OperandsOf(op), after = OperandsOf(inner);
    if (before.shapes.size() != after.shapes.size()) return;
    std::vector<EventIndex> narrowing;
    for (const EventIndex cast : casts) {
      const Operands own = OperandsOf(cast);
      if (!own.types.empty() && ShortType(own.types.front()) == "fp32") narrowing.push_back(cast);
    }
    const auto half = std::find_if(after.types.begin(), after.types.end(), &IsHalfType);
    if (narrowing.empty() || half == after.types.end()) return;
    const std::set<EventIndex> weights = WeightsAmong(op, before, after, narrowing);
    for (const EventIndex cast : narrowing) {
      auto& list = weights.contains(cast) ? out_.weights : out_.others;
      list.push_back({cast, BackwardOf(cast)});
      if (out_.to.empty()) out_.to = ShortType(*half);
    }
  }

  std::set<EventIndex> WeightsAmong(EventIndex op, const Operands& before, const Operands& after,
                                    const std::vector<EventIndex>& casts) const {
    std::set<EventIndex> weights;
    for (const EventIndex cast : casts) {
      if (IsLeaf(BackwardOf(cast))) weights.insert(cast);
    }
    const std::string_view name = events_.name(op);
    if (name != "aten::linear" && !name.starts_with("aten::conv")) return weights;
    for (std::size_t place = 1; place <= 2; ++place) {
      if (place >= before.shapes.size() || before.shapes[place].empty()) continue;
      if (ShortType(before.types[place]) != "fp32" || !IsHalfType(after.types[place])) continue;
      const EventIndex cast = CastOf(place, before, casts, weights);
      if (cast != kNoEvent) weights.insert(cast);
    }
    return weights;
  }

  // The cast of the operand at that place; kNoEvent: it comes from autocast's cache. Where the
  // input has the same sizes and one cast is all there is, that is the input's, which is never
  // kept.
  EventIndex CastOf(std::size_t place, const Operands& operands,
                    const std::vector<EventIndex>& casts, const std::set<EventIndex>& taken) const {
    const Shape& sizes = operands.shapes[place];
    std::vector<EventIndex> fitting;
    for (const EventIndex cast : casts) {
      if (!taken.contains(cast) && OperandsOf(cast).shapes.front() == sizes)
        fitting.push_back(cast);
    }
    const bool of_input =
        operands.shapes.front() == sizes && ShortType(operands.types.front()) == "fp32";
    return fitting.size() > (of_input ? 1 : 0) ? fitting.front() : kNoEvent;
  }

  EventIndex BackwardOf(EventIndex cast) const {
    for (const EventIndex e : tree_.Subtree(cast)) {
      if (const EventIndex node = tree_.BackwardOf(e); node != kNoEvent) return node;
    }
    return kNoEvent;
  }

  // Whether the gradient that a node makes is that of a parameter: it is accumulated right behind.
  bool IsLeaf(EventIndex node) const {
    if (node == kNoEvent) return false;
    const std::uint32_t next = tree_.subtree_end(node);
    if (next >= tree_.preorder().size()) return false;
    const EventIndex behind = tree_.preorder()[next];
    return events_[behind].track == events_[node].track &&
           events_.name(behind).find("AccumulateGrad") != std::string_view::npos;
  }

  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  trace::ByName<bool> is_cast_;
  AutocastCasts out_;
};

// What goes of host and GPU.
struct CastWork {
  std::vector<analysis::HostStretch> stretches;
  std::vector<EventIndex> gpu;

  void Take(const Calls& calls, const std::vector<AutocastCast>& casts) {
    for (const AutocastCast& one : casts) {
      Take(calls, one.cast);
      if (one.backward != kNoEvent) Take(calls, one.backward);
    }
  }
  void Take(const Calls& calls, EventIndex e) {
    const trace::Event& event = calls.events()[e];
    stretches.push_back({event.track, event.ts_ns, event.end_ns()});
    const auto below = calls.trace.tree().GpuBelow(e);
    gpu.insert(gpu.end(), below.begin(), below.end());
  }
};

std::size_t GradientsOf(const std::vector<AutocastCast>& casts) {
  return static_cast<std::size_t>(std::ranges::count_if(
      casts, [](const AutocastCast& one) { return one.backward != kNoEvent; }));
}

double UsOf(const Calls& calls, const std::vector<EventIndex>& gpu) {
  double us = 0;
  for (const EventIndex e : gpu)
    us += trace::MicrosOf(calls.events()[e].dur_ns);
  return us;
}

// By unit, what comes outside of all last.
std::vector<std::size_t> CountsByUnit(const Calls& calls,
                                      const std::vector<analysis::FoundStep>& units,
                                      const std::vector<AutocastCast>& casts) {
  std::vector<std::size_t> counts(units.size() + 1, 0);
  for (const AutocastCast& one : casts)
    ++counts[PlaceOfUnit(units, calls.events()[one.cast].ts_ns)];
  return counts;
}

// What most units cast; 0: weights are cast in a few of them alone, as where they are loaded.
std::size_t CastsOfUnit(const std::vector<std::size_t>& counts) {
  if (counts.size() == 1) return counts.front();  // there are no units
  std::vector<std::size_t> each(counts.begin(), counts.end() - 1);
  const auto middle = each.begin() + static_cast<std::ptrdiff_t>(each.size() / 2);
  std::nth_element(each.begin(), middle, each.end());
  return *middle;
}

// The type to keep weights in; empty: none. Gradients of fp16 weights cannot be scaled as fp16 asks
// for, so that training needs bf16.
std::string TypeToKeep(const Calls& calls, const WorkContext& context, const std::string& to) {
  if (to == "bf16" || !context.training) return to;
  const bool has_bf16 = calls.platform != nullptr && perf::PeakFor(*calls.platform, "matrix_bf16");
  return has_bf16 ? "bf16" : "";
}

}  // namespace

void FindAutocastWeights(const Calls& calls, const WorkContext& context,
                         std::vector<CategoryAnalysis>* categories, std::vector<Finding>* out) {
  if (!context.framework.empty() || context.IsServer()) return;
  const AutocastCasts found = AutocastFinder(calls).Run();
  const auto frames = session::FramesOf(calls.trace, Job()).value();
  const analysis::BaseOfTime& base = frames->frames.base;
  const std::size_t casts = CastsOfUnit(CountsByUnit(calls, base.host_units, found.weights));
  const std::string keep = TypeToKeep(calls, context, found.to);
  if (casts < kCastsLeast || keep.empty()) return;
  CastWork work;
  work.Take(calls, found.weights);
  const std::vector<bool> of_weights = Marked(work.gpu, calls.events().size());
  ClaimOperations(calls.events(), of_weights, categories);
  const double weights_us = UsOf(calls, work.gpu);
  work.Take(calls, found.others);
  const double least = weights_us / std::max(weights_us, UsOf(calls, work.gpu));
  std::vector<Fact> facts = {
      StructureCount("casts", casts), StructureWords("to", found.to), StructureWords("keep", keep),
      StructureWords("unit", base.unit_text()),
      StructureWords("call", keep == "bf16" ? "model.to(torch.bfloat16)" : "model.half()")};
  const auto tell = [&](const char* key, std::size_t count) {
    const std::size_t of_unit = count * casts / found.weights.size();
    if (of_unit > 0) facts.push_back(StructureCount(key, of_unit));
  };
  tell("activations", found.others.size());
  tell("gradients", GradientsOf(found.weights) + GradientsOf(found.others));
  if (context.training) {
    facts.push_back(StructureWords(
        "optimizer",
        "use an optimizer that holds an fp32 copy of them or rounds stochastically, since small "
        "updates are lost in 16 bits; it casts all of them in a few calls"));
  }
  std::vector<EventIndex> gone = work.gpu;
  const Range part{context.training ? kLeastOfTraining * least : least, 1, 1};
  Finding f = StructureFinding(calls, Pattern::kAutocastWeights, "Precision",
                               "casts of weights to " + found.to, std::move(work.gpu), part,
                               {{}, "no casts", "time in this trace"}, std::move(facts));
  f.change_a->exact = {analysis::ScaleHost{std::move(work.stretches), 0, true},
                       analysis::ScaleGpu{std::move(gone), {0}}};
  out->push_back(std::move(f));
}

}  // namespace jarvis::findings
