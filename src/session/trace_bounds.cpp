#include "session/trace_bounds.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "session/loaded_trace.h"
#include "session/name_floors.h"
#include "session/trace_frames.h"
#include "session/trace_work.h"

namespace jarvis::session {
namespace {

class FloorFinder {
 public:
  FloorFinder(const LoadedTrace& trace, const perf::Platform& platform, const TraceFrames& frames)
      : trace_(trace),
        events_(trace.events()),
        kinds_(*frames.kinds),
        platform_(platform),
        in_base_(frames.frames.base.base),
        modelled_(trace.events().size()) {}

  // An op's floor belongs to the kind that most of its time is of: what else runs in it, casts and
  // transposes, has a bound of its own.
  void ByModels(const analysis::Attribution& attribution,
                std::span<const analysis::LauncherWork> works) {
    for (std::size_t i = 0; i < works.size(); ++i) {
      const analysis::Metrics metrics =
          analysis::MetricsOf(works[i].work, works[i].call_us, {&platform_});
      if (!metrics.pct_roof) continue;
      std::array<std::int64_t, ledger::kWorkKinds> ns{}, least{};
      for (const trace::EventIndex kernel : attribution.KernelsOf(attribution.launchers[i])) {
        const auto kind = static_cast<std::size_t>(kinds_.Of(kernel).kind);
        const std::int64_t inside = InBase(kernel);
        ns[kind] += inside;
        least[kind] += std::min(inside, ledger::kKernelFloorNs);
        modelled_[kernel] = true;
      }
      const auto main =
          static_cast<std::size_t>(std::max_element(ns.begin(), ns.end()) - ns.begin());
      const double roof = static_cast<double>(ns[main]) * std::min(1.0, *metrics.pct_roof / 100);
      Add(main, ns[main], std::max(least[main], static_cast<std::int64_t>(roof)));
      floors_[main].by_models = floors_[main].by_models || ns[main] > 0;
    }
  }

  // Of the others, each kernel whose name gives sizes.
  void ByNames() {
    const NameFloors names(events_, trace_.tree(), kinds_, platform_);
    for (trace::EventIndex e = 0; e < events_.size(); ++e) {
      if (!trace::IsGpuWork(events_[e].kind) || modelled_[e]) continue;
      const NameFloor* floor = names.Of(e);
      const std::int64_t inside = floor != nullptr ? InBase(e) : 0;
      if (inside <= 0) continue;
      const auto kind = static_cast<std::size_t>(kinds_.Of(e).kind);
      Add(kind, inside,
          std::max(std::min(floor->ns, inside), std::min(inside, ledger::kKernelFloorNs)));
      floors_[kind].by_names = true;
      floors_[kind].by_grids = floors_[kind].by_grids || floor->by_grid;
      if (!floor->assumption.empty()) assumptions_[kind].insert(floor->assumption);
    }
  }

  ledger::KnownFloors Done() {
    for (std::size_t i = 0; i < floors_.size(); ++i) {
      floors_[i].basis = BasisOf(floors_[i], assumptions_[i]);
    }
    return std::move(floors_);
  }

 private:
  std::int64_t InBase(trace::EventIndex kernel) const {
    return in_base_.In({events_[kernel].ts_ns, events_[kernel].end_ns()});
  }
  void Add(std::size_t kind, std::int64_t ns, std::int64_t floor_ns) {
    floors_[kind].assessed_ns += ns;
    floors_[kind].floor_ns += floor_ns;
  }
  std::string BasisOf(const ledger::KnownFloor& floor,
                      const std::set<std::string_view>& assumptions) const {
    if (!floor.by_names)
      return fmt::format("down to what {} can reach for the ops' shapes", platform_.name);
    std::string text =
        fmt::format("down to {} {} for {}the sizes {}",
                    floor.by_grids || floor.by_models ? "what" : "the memory bandwidth of",
                    platform_.name + (floor.by_grids || floor.by_models ? " can reach" : ""),
                    floor.by_models ? "the ops' shapes and " : "",
                    floor.by_grids ? "that kernel names and grids give" : "in kernel names");
    if (assumptions.contains("uniform_routing")) text += " if all experts have tokens";
    if (assumptions.contains("own_keys")) text += " if attention has as many keys as queries";
    return text;
  }

  const LoadedTrace& trace_;
  const trace::EventStore& events_;
  const ledger::KindsOfWork& kinds_;
  const perf::Platform& platform_;
  const analysis::TimeMeter in_base_;
  std::vector<bool> modelled_;  // by event
  ledger::KnownFloors floors_;
  std::array<std::set<std::string_view>, ledger::kWorkKinds> assumptions_{};
};

}  // namespace

Result<ledger::Bounds> BoundsOf(const LoadedTrace& trace, const perf::Platform* platform,
                                const std::shared_ptr<const perf::ModelRows>& models,
                                const Job& job) {
  JV_ASSIGN(const auto made, FramesOf(trace, job));
  if (platform == nullptr) return ledger::BoundsOf(made->books);
  // Kernels of a replay have the shapes of its capture; their indices and times are the
  // recording's.
  const LoadedTrace& shaped = trace.WithCapture();
  JV_ASSIGN(const auto work, WorkOf(shaped, models, job));
  const analysis::Attribution& attribution =
      work->attribution ? *work->attribution : shaped.attribution();
  const auto works = analysis::WorkOfLaunchers(shaped.events(), attribution, work->calls);
  FloorFinder floors(trace, *platform, *made);
  floors.ByModels(attribution, works);
  floors.ByNames();
  return ledger::BoundsOf(made->books, floors.Done());
}

}  // namespace jarvis::session
