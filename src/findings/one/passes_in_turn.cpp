#include "findings/one/passes_in_turn.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "analysis/attribution/module_paths.h"
#include "analysis/frames/base_of_time.h"
#include "base/job.h"
#include "findings/one/grid_blocks.h"
#include "findings/one/shapes.h"
#include "findings/one/structure_maker.h"
#include "findings/one/unit_ops.h"
#include "trace/by_name.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using trace::kNoEvent;

constexpr std::size_t kPassesLeast = 2, kPassesMost = 16;  // of one unit
constexpr std::size_t kPassOps = 40;
constexpr double kSamePart = 0.95;   // of a pass' ops, in the next one
constexpr double kPassesPart = 0.7;  // of a unit's ops
constexpr double kUnitsPart = 0.8;   // of all units that launch something
constexpr std::int64_t kInputChannels = 16;

using UnitOps = std::span<const UnitOp>;

// The passes of one unit: where each begins among its ops, and where the op that takes the model's
// input stands; all are as long.
struct UnitPasses {
  std::vector<std::size_t> begins, inputs;
  std::size_t length = 0;
  std::size_t end(std::size_t pass) const { return begins[pass] + length; }
};

// Why nothing of a pass can be what the next one takes, as far as a trace shows it.
enum class Apart : std::uint8_t { kNotSeen, kUploads, kJoined };

class PassesFinder {
 public:
  explicit PassesFinder(const Calls& calls)
      : trace_(calls.trace),
        events_(calls.events()),
        tree_(calls.trace.tree()),
        units_(session::FramesOf(calls.trace, Job()).value()->frames.base.host_units),
        names_(events_) {}

  // What the passes after the first take of the host, and how many there are in a unit.
  struct Found {
    std::vector<analysis::HostStretch> later;
    std::vector<EventIndex> gpu;  // of these passes
    std::size_t passes = 0;
    Apart apart = Apart::kNotSeen;
    // Of inputs of unlike sizes: what all of them are in elements, padded to the largest, over what
    // they are today; 1: they are equal.
    double padded = 1;
  };

  Found Run() {
    Found found;
    candidates_ = FindCandidates();
    if (!candidates_.equal) return found;
    std::size_t launching = 0, with_passes = 0;
    for (const auto& [place, ops] : LaunchingOps(trace_, units_, &names_)) {
      if (ops.size() < kPassOps) continue;
      ++launching;
      const UnitPasses passes = PassesOf(ops);
      if (passes.begins.empty()) continue;
      const Apart apart = ApartBy(ops, passes);
      if (apart == Apart::kNotSeen) continue;
      ++with_passes;
      found.apart = std::max(found.apart, apart);
      found.passes = std::max(found.passes, passes.begins.size());
      Take(ops, passes, place.second, &found);
    }
    const auto least = kUnitsPart * static_cast<double>(launching);
    if (static_cast<double>(with_passes) < least) return {};
    std::sort(found.gpu.begin(), found.gpu.end());
    found.gpu.erase(std::unique(found.gpu.begin(), found.gpu.end()), found.gpu.end());
    return found;
  }

 private:
  // Whether some op that takes an input runs as often in a unit as passes would, on equal sizes and
  // on any: most recordings have none, and their launches need not be read.
  struct Candidates {
    bool equal = false, any = false;
  };
  Candidates FindCandidates() const {
    trace::ByName<bool> may_take(events_, [](std::string_view name) {
      return name == "aten::embedding" || name.find("conv") != std::string_view::npos;
    });
    using Op = std::pair<StringId, StringId>;
    std::map<Op, bool> takes;
    std::map<std::pair<std::size_t, Op>, std::size_t> runs, of_name;
    for (const EventIndex e : tree_.preorder()) {
      if (events_[e].kind != trace::EventKind::kCpuOp || !may_take.Of(e)) continue;
      const Op op(events_[e].name, events_.args_of(e).dims);
      const auto [known, added] = takes.try_emplace(op, false);
      if (added) known->second = !InputOf(op).empty();
      if (!known->second) continue;
      const std::size_t unit = PlaceOfUnit(units_, events_[e].ts_ns);
      if (unit == units_.size()) continue;
      ++runs[{unit, op}];
      ++of_name[{unit, {op.first, kNoString}}];
    }
    const auto as_often = [](const auto& counts) {
      return std::any_of(counts.begin(), counts.end(), [](const auto& one) {
        return one.second >= kPassesLeast && one.second <= kPassesMost;
      });
    };
    return {as_often(runs), as_often(of_name)};
  }

  bool IsEmbedding(const std::pair<StringId, StringId>& op) const {
    return events_.strings[op.first] == std::string_view("aten::embedding");
  }

  // The sizes of what a model is given, by an op that takes it: indices, or an image or latent of
  // few channels. Empty: another op.
  Shape InputOf(const std::pair<StringId, StringId>& op) const {
    const std::string_view name = events_.strings[op.first];
    if (op.second == kNoString) return {};
    const bool embedding = IsEmbedding(op);
    if (!embedding && name.find("conv") == std::string_view::npos) return {};
    std::vector<Shape> shapes = ParseShapes(events_.text(op.second));
    if (embedding) return shapes.size() < 2 ? Shape() : std::move(shapes[1]);
    const bool image = !shapes.empty() && shapes[0].size() >= 3 && shapes[0][1] <= kInputChannels;
    return image ? std::move(shapes[0]) : Shape();
  }

  UnitPasses PassesOf(UnitOps ops) const {
    std::map<std::pair<StringId, StringId>, std::vector<std::size_t>> places;
    for (std::size_t i = 0; i < ops.size(); ++i)
      places[ops[i].op].push_back(i);
    for (const auto& [op, at] : places) {
      if (at.size() < kPassesLeast || at.size() > kPassesMost || InputOf(op).empty()) continue;
      UnitPasses passes = PassesAround(ops, at);
      if (!passes.begins.empty()) return passes;
    }
    return {};
  }

  // Equal stretches around the ops that take the input, one behind the other without a gap. What
  // comes before such an op (an embedding of the time, a mask) is of its pass.
  static UnitPasses PassesAround(UnitOps ops, const std::vector<std::size_t>& at) {
    const std::size_t length = at[1] - at[0];
    for (std::size_t k = 2; k < at.size(); ++k)
      if (at[k] - at[k - 1] != length) return {};
    const auto same = [&](auto place) {
      return std::ranges::all_of(
          at, [&](std::size_t input) { return ops[place(input)].op == ops[place(at[0])].op; });
    };
    std::size_t before = 0;
    while (before < at[0] && before + 1 < length &&
           same([&](std::size_t input) { return input - before - 1; }))
      ++before;
    const std::size_t behind = length - before;
    if (at.back() + behind > ops.size()) return {};
    std::size_t equal = before;
    bool ends_alike = false;
    for (std::size_t i = 0; i < behind; ++i) {
      ends_alike = same([&](std::size_t input) { return input + i; });
      if (ends_alike) ++equal;
    }
    if (!ends_alike || static_cast<double>(equal) < kSamePart * static_cast<double>(length))
      return {};
    UnitPasses passes;
    passes.length = length;
    const double all = static_cast<double>(passes.length * at.size());
    if (passes.length < kPassOps || all < kPassesPart * static_cast<double>(ops.size())) return {};
    passes.inputs = at;
    for (const std::size_t input : at)
      passes.begins.push_back(input - before);
    return passes;
  }

  // ---- whether a pass needs the one before

  Apart ApartBy(UnitOps ops, const UnitPasses& passes) const {
    if (!HaveOneModule(ops, passes)) return Apart::kNotSeen;
    bool joined = false;
    for (std::size_t k = 1; k < passes.begins.size(); ++k) {
      const UnitOps between =
          ops.subspan(passes.inputs[k - 1] + 1, passes.inputs[k] - passes.inputs[k - 1] - 1);
      if (IsUploaded(between, ops[passes.inputs[k]])) continue;
      if (MayHand(between, ops[passes.inputs[k]])) return Apart::kNotSeen;
      joined = true;
    }
    if (!joined) return Apart::kUploads;
    return AreJoined(ops.subspan(passes.end(passes.begins.size() - 1)), passes.begins.size())
               ? Apart::kJoined
               : Apart::kNotSeen;
  }

  // What is uploaded last comes from the host. What follows a read back may be made of its result:
  // indices by any, an image or latent by one as large.
  bool IsUploaded(UnitOps between, const UnitOp& input) const {
    const double elements = Elements(InputOf(input.op));
    const double read_least = IsEmbedding(input.op) ? 1 : elements;
    for (std::size_t i = between.size(); i-- > 0;) {
      if (static_cast<double>(between[i].uploaded_bytes) < elements) continue;
      return std::ranges::none_of(between.first(i), [&](const UnitOp& op) {
        return static_cast<double>(op.read_bytes) >= read_least;
      });
    }
    return false;
  }

  // Whether something computes on a tensor of the input's sizes (a sampler between two passes), or
  // chooses indices: the next pass may take what comes of it.
  bool MayHand(UnitOps between, const UnitOp& input) const {
    static constexpr std::string_view kChoosing[] = {"argmax", "multinomial", "topk",
                                                     "sort",   "argmin",      "nonzero"};
    const bool embedding = IsEmbedding(input.op);
    const Shape taken = InputOf(input.op);
    return std::ranges::any_of(between, [&](const UnitOp& one) {
      const std::string_view name = events_.strings[one.op.first];
      if (embedding) {
        return std::ranges::any_of(kChoosing, [&](std::string_view choosing) {
          return name.find(choosing) != std::string_view::npos;
        });
      }
      return one.op.second != kNoString &&
             std::ranges::count(ParseShapes(events_.text(one.op.second)), taken) > 0;
    });
  }

  // Whether an op behind the last pass takes as many tensors of equal sizes as there are passes:
  // each one's result is kept until then, which what is handed on is not.
  bool AreJoined(UnitOps behind, std::size_t passes) const {
    return std::ranges::any_of(behind, [&](const UnitOp& one) {
      if (one.op.second == kNoString) return false;
      const std::vector<Shape> shapes = ParseShapes(events_.text(one.op.second));
      return std::ranges::any_of(shapes, [&](const Shape& shape) {
        return Elements(shape) > 1 &&
               std::ranges::count(shapes, shape) >= static_cast<std::ptrdiff_t>(passes);
      });
    });
  }

  // Of modules with Python frames, one and the same: another one has weights of its own.
  bool HaveOneModule(UnitOps ops, const UnitPasses& passes) const {
    const StringId first = RootModule(ops[passes.inputs[0]].event);
    return std::ranges::all_of(
        passes.inputs, [&](std::size_t input) { return RootModule(ops[input].event) == first; });
  }

  StringId RootModule(EventIndex op) const {
    const EventIndex call = RootCall(op);
    return call == kNoEvent ? kNoString : events_[call].name;
  }
  // Of the outermost module.
  EventIndex RootCall(EventIndex op) const {
    EventIndex call = kNoEvent;
    for (EventIndex up = tree_.parent(op); up != kNoEvent; up = tree_.parent(up)) {
      if (!analysis::ModuleClass(events_.name(up)).empty()) call = up;
    }
    return call;
  }

  // ---- what goes

  // The host's time of each pass but the first; to the next one where nothing lies between.
  void Take(UnitOps ops, const UnitPasses& passes, std::uint32_t track, Found* found) const {
    for (std::size_t k = 1; k < passes.begins.size(); ++k) {
      const std::size_t from = passes.begins[k], end = passes.end(k);
      const bool next = k + 1 < passes.begins.size() && passes.begins[k + 1] == end;
      const std::int64_t end_ns =
          next ? events_[ops[end].event].ts_ns : events_[ops[end - 1].event].end_ns();
      found->later.push_back({track, events_[ops[from].event].ts_ns, end_ns});
      for (const UnitOp& one : ops.subspan(from, passes.length)) {
        const auto below = tree_.GpuBelow(one.event);
        found->gpu.insert(found->gpu.end(), below.begin(), below.end());
      }
    }
  }

  // ---- calls of one module, whatever their sizes are

  // The first op that takes an input in each call; nothing where their ops or modules are unlike.
  UnitPasses CallsOf(UnitOps ops, std::vector<double>* elements) const {
    UnitPasses passes;
    EventIndex last = kNoEvent;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const Shape input = InputOf(ops[i].op);
      if (input.empty()) continue;
      const EventIndex call = RootCall(ops[i].event);
      if (call == kNoEvent) return {};
      if (call == last) continue;
      last = call;
      const UnitOp& first = passes.inputs.empty() ? ops[i] : ops[passes.inputs.front()];
      if (ops[i].op.first != first.op.first || input.size() != InputOf(first.op).size()) return {};
      passes.inputs.push_back(i);
      elements->push_back(Elements(input));
    }
    return passes;
  }

  // Each takes an input of its own from the host.
  bool AllUploaded(UnitOps ops, const UnitPasses& passes) const {
    for (std::size_t k = 1; k < passes.inputs.size(); ++k) {
      const std::size_t from = passes.inputs[k - 1] + 1;
      if (!IsUploaded(ops.subspan(from, passes.inputs[k] - from), ops[passes.inputs[k]]))
        return false;
    }
    return true;
  }

  void TakeLater(UnitOps ops, const UnitPasses& passes, std::uint32_t track, Found* found) const {
    for (std::size_t k = 1; k < passes.inputs.size(); ++k) {
      const trace::Event& call = events_[RootCall(ops[passes.inputs[k]].event)];
      found->later.push_back({track, call.ts_ns, call.end_ns()});
    }
    for (const std::size_t input : passes.inputs) {
      const auto below = tree_.GpuBelow(RootCall(ops[input].event));
      found->gpu.insert(found->gpu.end(), below.begin(), below.end());
    }
  }

 public:
  // Of units with several calls of one module on unlike sizes. REQUIRES: Run() has found none.
  Found RunUnlike() {
    constexpr double kUnlike = 1.01;
    Found found;
    if (!candidates_.any || !trace_.recorded().modules) return found;
    double all = 0, padded = 0;
    for (const auto& [place, ops] : LaunchingOps(trace_, units_, &names_)) {
      if (ops.size() < kPassOps) continue;
      std::vector<double> elements;
      const UnitPasses passes = CallsOf(ops, &elements);
      const std::size_t count = passes.inputs.size();
      if (count < kPassesLeast || count > kPassesMost || !HaveOneModule(ops, passes) ||
          !AllUploaded(ops, passes)) {
        return {};
      }
      for (const double one : elements)
        all += one;
      padded += *std::ranges::max_element(elements) * static_cast<double>(count);
      found.passes = std::max(found.passes, count);
      TakeLater(ops, passes, place.second, &found);
    }
    found.apart = Apart::kUploads;
    found.padded = all > 0 ? padded / all : 1;
    return found.padded > kUnlike ? found : Found();
  }

 private:
  const session::LoadedTrace& trace_;
  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  const std::vector<analysis::FoundStep>& units_;
  analysis::HostNames names_;
  Candidates candidates_;
};

// What one batch spares the GPU. Kernels whose blocks are so few that those of all passes find room
// at once take as long for all as for one; of any other one what a kernel takes however little it
// does.
analysis::ScaleGpu SparedByOneBatch(const Calls& calls, const std::vector<EventIndex>& gpu,
                                    std::size_t passes) {
  const std::optional<std::int64_t> units = ComputeUnitsOf(calls.trace);
  analysis::ScaleGpu spared;
  for (const EventIndex e : gpu) {
    const trace::Event& kernel = calls.events()[e];
    if (kernel.kind != trace::EventKind::kKernel) continue;
    const auto blocks = BlocksOf(calls.trace, e);
    const bool room = units && blocks && *blocks * static_cast<std::int64_t>(passes) <= *units;
    const double us = trace::MicrosOf(kernel.dur_ns);
    const double left = room || us <= 0 ? 0 : 1 - std::min(1.0, calls.kernel_floor_us / us);
    if (left >= 1) continue;
    spared.events.push_back(e);
    spared.factors.push_back(left);
  }
  return spared;
}

// Of the time of GPU work.
double SparedPercent(const Calls& calls, const analysis::ScaleGpu& spared,
                     const std::vector<EventIndex>& gpu) {
  double all_us = 0, spared_us = 0;
  for (const EventIndex e : gpu)
    all_us += trace::MicrosOf(calls.events()[e].dur_ns);
  for (std::size_t i = 0; i < spared.events.size(); ++i)
    spared_us += (1 - spared.factors[i]) * trace::MicrosOf(calls.events()[spared.events[i]].dur_ns);
  return all_us > 0 ? 100 * spared_us / all_us : 0;
}

// What the later ones take of the host is not all spared: detectors and decoders go on input by
// input behind the layers that a batch shares. Padding computes more.
void AddUnlikePasses(const Calls& calls, PassesFinder::Found found, std::vector<Finding>* out) {
  constexpr double kSpared = 0.5;
  std::vector<Fact> facts = {
      StructureCount("passes", found.passes),
      StructureWords("apart", "each takes an input that is uploaded before it"),
      StructureWords("sizes", "unlike sizes"),
      StructureWords("join", "pad to the largest and concatenate")};
  Finding f = StructureFinding(
      calls, Pattern::kPassesInTurn, "Passes", "passes on unlike sizes", found.gpu, {0, 0, 0},
      {{}, "half of the host work of the later ones", "passes of this trace"}, std::move(facts));
  f.change_a->savings_ms = {0.5, 1, 1.5};  // parts of the middle
  f.change_a->exact = {analysis::ScaleHost{std::move(found.later), 1 - kSpared, true},
                       analysis::ScaleGpu{std::move(found.gpu), {found.padded}}};
  out->push_back(std::move(f));
}

}  // namespace

void FindPassesInTurn(const Calls& calls, const WorkContext& context, std::vector<Finding>* out) {
  if (context.training || context.IsServer() || context.generates) return;
  PassesFinder finder(calls);
  PassesFinder::Found found = finder.Run();
  if (found.passes < kPassesLeast) {
    found = finder.RunUnlike();
    if (found.passes >= kPassesLeast) AddUnlikePasses(calls, std::move(found), out);
    return;
  }
  analysis::ScaleGpu spared = SparedByOneBatch(calls, found.gpu, found.passes);
  std::vector<Fact> facts = {
      StructureCount("passes", found.passes), StructureWords("sizes", "equal sizes"),
      StructureWords("join", "concatenate"),
      StructureWords("apart", found.apart == Apart::kJoined
                                  ? "their results meet after the last one"
                                  : "each takes an input that is uploaded before it")};
  if (found.apart == Apart::kJoined) {
    facts.push_back(StructureWords("pair", "Guidance with and without the prompt is such a pair"));
  }
  if (!spared.events.empty()) {
    const double percent = SparedPercent(calls, spared, found.gpu);
    facts.push_back(NumberFact("spared_percent", percent, "%"));
  }
  analysis::HostNames names(calls.events());
  std::vector<EventIndex> waits = WaitsInside(calls.trace, found.later, &names);
  Finding f = StructureFinding(
      calls, Pattern::kPassesInTurn, "Passes", "passes on equal sizes", std::move(found.gpu),
      {0, 0, 0}, {{}, "the host work of one pass", "passes of this trace"}, std::move(facts));
  f.change_a->exact = {analysis::ScaleHost{std::move(found.later), 0, true}};
  if (!spared.events.empty()) f.change_a->exact.push_back(std::move(spared));
  if (!waits.empty()) f.change_a->exact.push_back(analysis::RemoveWaits{std::move(waits), false});
  out->push_back(std::move(f));
}

}  // namespace jarvis::findings
