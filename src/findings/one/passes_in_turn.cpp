#include "findings/one/passes_in_turn.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "analysis/frames/base_of_time.h"
#include "analysis/host/host_names.h"
#include "analysis/host/synchronisations.h"
#include "base/job.h"
#include "findings/one/host_units.h"
#include "findings/one/shapes.h"
#include "findings/one/structure_maker.h"
#include "trace/by_name.h"

namespace jarvis::findings {
namespace {

using trace::EventIndex;
using trace::kNoEvent;

constexpr std::size_t kPassesLeast = 2, kPassesMost = 4;  // of one unit
constexpr std::size_t kPassLaunches = 50;
constexpr double kSamePart = 0.95;   // of a pass' launches, in the next one
constexpr double kPassesPart = 0.7;  // of a unit's launches
constexpr double kUnitsPart = 0.8;   // of all units that launch something
constexpr std::int64_t kInputChannels = 16;

// A launch of a unit, in its order on one thread.
struct UnitLaunch {
  std::pair<StringId, StringId> op;  // name and sizes
  EventIndex event = kNoEvent;       // of the op
  std::int64_t call_ns = 0;
};

// The passes of one unit: where each begins among its launches; all are as long.
struct UnitPasses {
  std::vector<std::size_t> begins;
  std::size_t length = 0;
};

class PassesFinder {
 public:
  explicit PassesFinder(const Calls& calls)
      : events_(calls.events()),
        tree_(calls.trace.tree()),
        units_(session::FramesOf(calls.trace, Job()).value()->frames.base.host_units),
        names_(events_) {
    if (MayHavePasses()) Read(calls.trace.attribution().timeline);
  }

  // What the passes after the first take of the host, and how many there are in a unit.
  struct Found {
    std::vector<analysis::HostStretch> later;
    std::vector<EventIndex> gpu;  // of these passes
    std::size_t passes = 0;
  };

  Found Run() const {
    Found found;
    std::size_t launching = 0, with_passes = 0;
    for (const auto& [place, launches] : launches_) {
      if (launches.size() < kPassLaunches) continue;
      ++launching;
      const UnitPasses passes = PassesOf(launches);
      if (passes.begins.empty()) continue;
      ++with_passes;
      found.passes = std::max(found.passes, passes.begins.size());
      const std::size_t from = passes.begins[1];
      const std::size_t last = passes.begins.back() + passes.length - 1;
      const std::int64_t begin = launches[from].call_ns, end = launches[last].call_ns;
      found.later.push_back({place.second, begin, end});
      for (std::size_t i = from; i <= last; ++i) {
        for (const EventIndex gpu : tree_.GpuBelow(launches[i].event))
          found.gpu.push_back(gpu);
      }
    }
    const auto least = kUnitsPart * static_cast<double>(launching);
    if (static_cast<double>(with_passes) < least) return {};
    std::sort(found.gpu.begin(), found.gpu.end());
    found.gpu.erase(std::unique(found.gpu.begin(), found.gpu.end()), found.gpu.end());
    return found;
  }

 private:
  // Whether some op that takes an input runs as often in a unit as passes would: most recordings
  // have none, and their launches need not be read.
  bool MayHavePasses() const {
    trace::ByName<bool> may_take(events_, [](std::string_view name) {
      return name == "aten::embedding" || name.find("conv") != std::string_view::npos;
    });
    std::map<std::pair<StringId, StringId>, bool> takes;
    std::map<std::pair<std::size_t, std::pair<StringId, StringId>>, std::size_t> runs;
    for (const EventIndex e : tree_.preorder()) {
      if (events_[e].kind != trace::EventKind::kCpuOp || !may_take.Of(e)) continue;
      const std::pair op(events_[e].name, events_.args_of(e).dims);
      const auto [known, added] = takes.try_emplace(op, false);
      if (added) known->second = TakesInput(op);
      if (!known->second) continue;
      if (const auto unit = PlaceOfUnit(events_[e].ts_ns)) ++runs[{*unit, op}];
    }
    return std::any_of(runs.begin(), runs.end(), [](const auto& one) {
      return one.second >= kPassesLeast && one.second <= kPassesMost;
    });
  }

  std::optional<std::size_t> PlaceOfUnit(std::int64_t host_ns) const {
    const analysis::FoundStep* unit = UnitAt(units_, host_ns);
    if (unit == nullptr) return std::nullopt;
    return static_cast<std::size_t>(unit - units_.data());
  }

  // By unit and thread.
  template <typename Timeline>
  void Read(const Timeline& timeline) {
    for (const EventIndex gpu : timeline) {
      const EventIndex launch = tree_.parent(gpu);
      if (launch == kNoEvent || events_[gpu].kind != trace::EventKind::kKernel) continue;
      const std::int64_t at = events_[launch].ts_ns;
      const auto unit = PlaceOfUnit(at);
      if (!unit) continue;
      const EventIndex op = analysis::CallingOp(events_, tree_, launch, &names_);
      if (op == kNoEvent) continue;
      launches_[{*unit, events_[launch].track}].push_back(
          {{events_[op].name, events_.args_of(op).dims}, op, at});
    }
    for (auto& [place, launches] : launches_) {
      std::stable_sort(launches.begin(), launches.end(),
                       [](const auto& a, const auto& b) { return a.call_ns < b.call_ns; });
    }
  }

  // An op that takes what a model is given: indices, or an image or latent of few channels.
  bool TakesInput(const std::pair<StringId, StringId>& op) const {
    const std::string_view name = events_.strings[op.first];
    if (op.second == kNoString) return false;
    if (name == "aten::embedding") return true;
    if (name.find("conv") == std::string_view::npos) return false;
    const std::vector<Shape> shapes = ParseShapes(events_.text(op.second));
    return !shapes.empty() && shapes[0].size() >= 3 && shapes[0][1] <= kInputChannels;
  }

  UnitPasses PassesOf(const std::vector<UnitLaunch>& launches) const {
    std::map<std::pair<StringId, StringId>, std::vector<std::size_t>> places;
    EventIndex before = kNoEvent;
    for (std::size_t i = 0; i < launches.size(); ++i) {
      // An op may launch several kernels.
      if (launches[i].event != before) places[launches[i].op].push_back(i);
      before = launches[i].event;
    }
    for (const auto& [op, at] : places) {
      if (at.size() < kPassesLeast || at.size() > kPassesMost || !TakesInput(op)) continue;
      const std::size_t length = at[1] - at[0];
      if (AreSame(launches, at, length)) return {at, length};
    }
    return {};
  }

  static bool AreSame(const std::vector<UnitLaunch>& launches, const std::vector<std::size_t>& at,
                      std::size_t length) {
    if (length < kPassLaunches) return false;
    const std::size_t all = length * at.size();
    if (static_cast<double>(all) < kPassesPart * static_cast<double>(launches.size())) return false;
    for (std::size_t k = 1; k < at.size(); ++k) {
      std::uint64_t same = 0;
      for (std::size_t i = 0; i < length && at[k] + i < launches.size(); ++i)
        if (launches[at[k] + i].op == launches[at[0] + i].op) ++same;
      if (static_cast<double>(same) < kSamePart * static_cast<double>(length)) return false;
    }
    // And each ends as the first one does.
    return std::ranges::all_of(at, [&](std::size_t begin) {
      return begin + length <= launches.size() &&
             launches[begin + length - 1].op == launches[at[0] + length - 1].op;
    });
  }

  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  const std::vector<analysis::FoundStep>& units_;
  mutable analysis::HostNames names_;
  std::map<std::pair<std::size_t, std::uint32_t>, std::vector<UnitLaunch>> launches_;
};

}  // namespace

void FindPassesInTurn(const Calls& calls, const WorkContext& context, std::vector<Finding>* out) {
  if (context.training || context.IsServer() || context.generates) return;
  PassesFinder::Found found = PassesFinder(calls).Run();
  if (found.passes < kPassesLeast) return;
  Finding f = StructureFinding(calls, Pattern::kPassesInTurn, "Passes", "passes on equal sizes",
                               std::move(found.gpu), {0, 0, 0},
                               {{}, "the host work of one pass", "passes of this trace"},
                               {StructureCount("passes", found.passes)});
  f.change_a->exact = {analysis::ScaleHost{std::move(found.later), 0, true}};
  out->push_back(std::move(f));
}

}  // namespace jarvis::findings
