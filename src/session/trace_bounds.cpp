#include "session/trace_bounds.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "session/loaded_trace.h"
#include "session/trace_frames.h"
#include "session/trace_work.h"

namespace jarvis::session {
namespace {

// An op's floor belongs to the kind that most of its time is of: what else runs in it, casts and
// transposes, has a bound of its own.
ledger::KnownFloors FloorsOf(const LoadedTrace& trace, const analysis::Attribution& attribution,
                             std::span<const analysis::LauncherWork> works,
                             const perf::Platform& platform, const TraceFrames& frames) {
  ledger::KnownFloors floors;
  const ledger::KindsOfWork& kinds = *frames.kinds;
  const analysis::TimeMeter in_base(frames.frames.base.base);
  for (std::size_t i = 0; i < works.size(); ++i) {
    const analysis::Metrics metrics =
        analysis::MetricsOf(works[i].work, works[i].call_us, {&platform});
    if (!metrics.pct_roof) continue;
    std::array<std::int64_t, ledger::kWorkKinds> ns{}, least{};
    for (const trace::EventIndex kernel : attribution.KernelsOf(attribution.launchers[i])) {
      const trace::Event& event = trace.events()[kernel];
      const auto kind = static_cast<std::size_t>(kinds.Of(kernel).kind);
      const std::int64_t inside = in_base.In({event.ts_ns, event.end_ns()});
      ns[kind] += inside;
      least[kind] += std::min(inside, ledger::kKernelFloorNs);
    }
    const auto main = static_cast<std::size_t>(std::max_element(ns.begin(), ns.end()) - ns.begin());
    floors[main].assessed_ns += ns[main];
    const double roof = static_cast<double>(ns[main]) * std::min(1.0, *metrics.pct_roof / 100);
    floors[main].floor_ns += std::max(least[main], static_cast<std::int64_t>(roof));
  }
  for (ledger::KnownFloor& floor : floors)
    floor.basis = fmt::format("down to what {} can reach for the ops' shapes", platform.name);
  return floors;
}

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
  return ledger::BoundsOf(made->books, FloorsOf(shaped, attribution, works, *platform, *made));
}

}  // namespace jarvis::session
