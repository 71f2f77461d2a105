#include "findings/one/evaluation_passes.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/frames/base_of_time.h"
#include "analysis/host/host_names.h"
#include "base/job.h"
#include "findings/one/shapes.h"
#include "findings/one/structure_maker.h"
#include "findings/one/unit_ops.h"
#include "session/trace_frames.h"
#include "trace/by_name.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using trace::kNoEvent;

constexpr std::int64_t kEvery = 10;  // steps between two evaluations, as it is advised
constexpr double kSameLayers = 0.9;  // of the pass that trains, and of the one that evaluates
constexpr std::size_t kLayersLeast = 2;
constexpr std::ptrdiff_t kUnitsLeast = 2;

// A product with a weight: the op and the weight's sizes, whatever the batch.
using WeightedLayer = std::pair<StringId, Shape>;

// What a unit does in it, by times of the host.
struct TrainingUnit {
  std::int64_t backward_begin = 0, end = 0;  // of its backward work; end: of the optimizer, too
  bool trains = false;
};

class EvaluationFinder {
 public:
  explicit EvaluationFinder(const Calls& calls)
      : trace_(calls.trace),
        events_(calls.events()),
        tree_(calls.trace.tree()),
        units_(session::FramesOf(calls.trace, Job()).value()->frames.base.host_units),
        names_(events_) {}

  struct Found {
    std::vector<analysis::HostStretch> stretches;
    std::vector<EventIndex> gpu;
    std::string place;      // a frame of the user's code that evaluates; empty: none recorded
    bool autograd = false;  // it records for a backward pass that never comes
  };

  // Empty unless every unit that trains evaluates, and there are several: a last one may.
  Found Run() {
    Found found;
    const std::vector<TrainingUnit> training = ReadTraining();
    const auto trains = [](const TrainingUnit& unit) { return unit.trains; };
    const auto all = std::ranges::count_if(training, trains);
    if (all < kUnitsLeast) return found;
    std::set<std::size_t> evaluating;
    for (const auto& [place, ops] : LaunchingOps(trace_, units_, &names_)) {
      const TrainingUnit& unit = training[place.first];
      if (unit.trains && Evaluates(ops, unit, place, &found)) evaluating.insert(place.first);
    }
    return static_cast<std::ptrdiff_t>(evaluating.size()) == all ? std::move(found) : Found();
  }

 private:
  std::vector<TrainingUnit> ReadTraining() {
    std::vector<TrainingUnit> training(units_.size());
    trace::ByName<bool> optimizer(
        events_, [](std::string_view name) { return name.starts_with("Optimizer.step#"); });
    for (const EventIndex e : tree_.preorder()) {
      const auto kind = events_[e].kind;
      const bool named =
          kind == trace::EventKind::kCpuOp || kind == trace::EventKind::kUserAnnotation;
      if (!named) continue;
      const bool backward = names_.Of(e).autograd;
      if (!backward && !optimizer.Of(e)) continue;
      const std::size_t place = PlaceOfUnit(units_, events_[e].ts_ns);
      if (place == units_.size()) continue;
      TrainingUnit& unit = training[place];
      unit.end = std::max(unit.end, events_[e].end_ns());
      if (!backward) continue;
      unit.backward_begin =
          unit.trains ? std::min(unit.backward_begin, events_[e].ts_ns) : events_[e].ts_ns;
      unit.trains = true;
    }
    return training;
  }

  // Behind the backward pass and the optimizer, on the thread of the forward pass, its layers run
  // again, and the host reads something of it. A teacher's or a target's pass comes before the
  // loss; what samples acts.
  bool Evaluates(std::span<const UnitOp> ops, const TrainingUnit& unit,
                 const std::pair<std::size_t, std::uint32_t>& place, Found* found) {
    std::vector<WeightedLayer> trained, evaluated;
    double trained_rows = 0, evaluated_rows = 0;
    std::size_t first = ops.size();
    bool reads = false;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const UnitOp& one = ops[i];
      const std::int64_t at = events_[one.event].ts_ns;
      const bool before = at < unit.backward_begin, behind = at >= unit.end;
      if (!before && !behind) continue;
      if (behind && (IsRandom(one) || HasBackward(one.event))) return false;
      reads = reads || (first < ops.size() && one.read_bytes > 0);
      const auto [layer, rows] = LayerOf(one);
      if (layer.second.empty()) continue;
      // What is not recorded for a backward pass does not train.
      if (before && events_.args_of(one.event).sequence == trace::kAbsent) continue;
      if (behind) first = std::min(first, i);
      (before ? trained : evaluated).push_back(layer);
      (before ? trained_rows : evaluated_rows) += rows;
    }
    if (!reads || trained.size() < kLayersLeast || !AreSameLayers(trained, evaluated)) return false;
    // A smaller batch may be of what acts, and whose result the next step needs.
    if (evaluated_rows < kSameLayers * trained_rows) return false;
    Take(ops, first, unit, place, found);
    return true;
  }

  // Each layer of one pass is in the other, for the most part, as many times.
  static bool AreSameLayers(const std::vector<WeightedLayer>& trained,
                            const std::vector<WeightedLayer>& evaluated) {
    std::map<WeightedLayer, std::size_t> left;
    for (const WeightedLayer& layer : trained)
      ++left[layer];
    std::size_t known = 0, once = 0;
    std::map<WeightedLayer, std::size_t> used;
    for (const WeightedLayer& layer : evaluated) {
      const auto found = left.find(layer);
      if (found == left.end()) continue;
      ++known;
      if (++used[layer] <= found->second) ++once;
    }
    return static_cast<double>(known) >= kSameLayers * static_cast<double>(evaluated.size()) &&
           static_cast<double>(once) >= kSameLayers * static_cast<double>(trained.size());
  }

  // With the elements of its activations; a layer without sizes is none.
  std::pair<WeightedLayer, double> LayerOf(const UnitOp& one) const {
    const std::string_view name = events_.strings[one.op.first];
    const bool linear = name == "aten::linear" || name.find("conv") != std::string_view::npos;
    const bool added = name == "aten::addmm";
    const bool product = name == "aten::mm" || name == "aten::matmul";
    if ((!linear && !added && !product) || one.op.second == kNoString) return {};
    const std::vector<Shape> shapes = ParseShapes(events_.text(one.op.second));
    const std::size_t weight = added ? 2 : 1;
    if (shapes.size() <= weight || shapes[weight].empty()) return {};
    if (product && shapes[weight].size() != 2) return {};
    return {{one.op.first, shapes[weight]}, Elements(shapes[weight - 1])};
  }

  bool IsRandom(const UnitOp& one) const {
    static constexpr std::string_view kSampling[] = {"multinomial", "aten::normal", "bernoulli",
                                                     "exponential", "aten::rand",   "dropout"};
    const std::string_view name = events_.strings[one.op.first];
    return std::ranges::any_of(kSampling, [&](std::string_view sampling) {
      return name.find(sampling) != std::string_view::npos;
    });
  }

  bool HasBackward(EventIndex op) const {
    return std::ranges::any_of(tree_.Subtree(op),
                               [&](EventIndex e) { return tree_.BackwardOf(e) != kNoEvent; });
  }

  // From the first frame behind the optimizer that holds the pass to its end; without frames from
  // its first layer to the last op of the unit.
  void Take(std::span<const UnitOp> ops, std::size_t first, const TrainingUnit& unit,
            const std::pair<std::size_t, std::uint32_t>& place, Found* found) {
    const EventIndex layer = ops[first].event;
    std::int64_t begin = events_[layer].ts_ns, end = events_[ops.back().event].end_ns();
    std::string user;
    for (EventIndex up = tree_.parent(layer); up != kNoEvent; up = tree_.parent(up)) {
      if (events_[up].ts_ns < unit.end) break;
      if (events_[up].kind != trace::EventKind::kPythonFunction) continue;
      begin = events_[up].ts_ns;
      end = events_[up].end_ns();
      if (names_.Of(up).user_frame) user = std::string(events_.name(up));
    }
    if (found->place.empty()) found->place = user;
    found->autograd = found->autograd || events_.args_of(layer).sequence != trace::kAbsent;
    found->stretches.push_back({place.second, begin, end});
    for (const UnitOp& one : ops) {
      const std::int64_t at = events_[one.event].ts_ns;
      if (at < begin || at >= end) continue;
      const auto below = tree_.GpuBelow(one.event);
      found->gpu.insert(found->gpu.end(), below.begin(), below.end());
    }
  }

  const session::LoadedTrace& trace_;
  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  const std::vector<analysis::FoundStep>& units_;
  analysis::HostNames names_;
};

}  // namespace

void FindEvaluationPasses(const Calls& calls, const WorkContext& context,
                          std::vector<Finding>* out) {
  if (!context.training || !context.framework.empty()) return;
  EvaluationFinder::Found found = EvaluationFinder(calls).Run();
  if (found.stretches.empty()) return;
  std::sort(found.gpu.begin(), found.gpu.end());
  found.gpu.erase(std::unique(found.gpu.begin(), found.gpu.end()), found.gpu.end());
  std::vector<Fact> facts = {StructureCount("every", kEvery)};
  if (!found.place.empty()) facts.push_back(StructureText("place", std::move(found.place)));
  if (found.autograd) {
    facts.push_back(StructureWords("autograd", "it records for a backward pass that never comes"));
  }
  constexpr double kLeft = 1.0 / static_cast<double>(kEvery);
  std::vector<EventIndex> gpu = found.gpu;
  // Of the waits inside, those of one evaluation in ten stay.
  analysis::HostNames names(calls.events());
  std::vector<EventIndex> waits = WaitsInside(calls.trace, found.stretches, &names);
  std::int64_t at = 0;
  std::erase_if(waits, [&](EventIndex) { return at++ % kEvery == 0; });
  Finding f =
      StructureFinding(calls, Pattern::kEvaluationPasses, "Evaluation",
                       "the forward pass behind the optimizer", std::move(found.gpu), {0, 0, 0},
                       {{}, "a tenth of it", "time in this trace"}, std::move(facts));
  f.change_a->exact = {analysis::ScaleHost{std::move(found.stretches), kLeft, true},
                       analysis::ScaleGpu{std::move(gpu), {kLeft}}};
  if (!waits.empty()) f.change_a->exact.push_back(analysis::RemoveWaits{std::move(waits), false});
  out->push_back(std::move(f));
}

}  // namespace jarvis::findings
