#include "findings/one/wall_base.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "analysis/host/host_names.h"
#include "findings/one/step_base.h"
#include "findings/one/thresholds.h"
#include "findings/one/time_scope.h"
#include "findings/one/wall_classes.h"
#include "session/trace_frames.h"
#include "session/trace_host.h"
#include "session/trace_simulation.h"
#include "session/trace_trust.h"
#include "trace/by_name.h"

namespace jarvis::findings {
namespace {

using Changes = std::vector<analysis::Change>;

struct GroundKey {
  using Value = WallGround;
  bool operator==(const GroundKey&) const = default;
};

// What is no cost of the program's steady steps, though it was recorded.
struct RecordingShare {
  std::vector<analysis::HostCost> artefact;  // of the profiler, certain; may be empty
  // All that profiling may have cost: what the host would save is at least what it saves without
  // it. What it cost for certain, and what it is expected to have cost.
  std::vector<analysis::HostCost> most, least, middle;
  IntervalSet<std::int64_t> first_calls;  // host time that happens once
};

class GroundMaker {
 public:
  // `wait_frames`: when frames begin that wait for the GPU without a call of the runtime.
  GroundMaker(const analysis::Simulation& simulation, const analysis::TimeFrames& frames,
              RecordingShare recording, std::vector<std::int64_t> wait_frames, const Job& job)
      : wait_frames_(std::move(wait_frames)),
        simulation_(simulation),
        frames_(frames),
        base_(StepBaseOf(frames, 1)),
        scope_(frames),
        recording_(std::move(recording)),
        job_(job) {}

  Result<WallGround> Run() {
    JV_TRY(Base());
    return std::move(out_);
  }

 private:
  jarvis::Status Base() {
    WallBase& wall = out_.wall;
    const analysis::SimulationQuality& quality = simulation_.quality();
    if (simulation_.empty()) {
      wall.why_not = "The trace has no launches, so dependencies are unknown.";
      return {};
    }
    wall.known = quality.refusal.empty();
    wall.why_not = quality.refusal;
    wall.range_only = quality.range_only;
    wall.recorded_ms = quality.wall_ms;
    wall.wall_ms = base_.total_ms;
    wall.replay_error_percent = quality.replay_error_percent;
    wall.matched_waits_percent = quality.matched_waits_percent;
    wall.opaque_percent = quality.opaque_percent;
    if (!wall.known) return {};
    Given();
    if (wall.wall_ms <= 0) {
      wall.known = false;
      wall.why_not =
          "Without one-time initialization and profiler overhead the steps take no time that could "
          "be saved.";
      return {};
    }
    JV_TRY(job_.Check());
    Floors();
    out_.wall.in_turns = InTurns();
    JV_TRY(job_.Check());
    if (MiddleIsSure()) {
      LeaveRecordingOut();
      Floors();
    }
    return job_.Check();
  }

  // Of most units, and pairs of those that follow each other.
  bool InTurns() const {
    struct Unit {
      double launches = 0, done = 0;  // first launch, end of the last work; µs
      std::size_t works = 0;
      bool waits = false;
    };
    const std::vector<analysis::FoundStep>& units = frames_.base.host_units;
    const analysis::RecordedWork& recorded = simulation_.recorded();
    std::vector<Unit> of(units.size());
    Unit none;  // of what no unit holds
    const auto at = [&](double us) -> Unit& {
      const auto next = std::upper_bound(units.begin(), units.end(), us,
                                         [&](double time, const analysis::FoundStep& unit) {
                                           return time < recorded.Micros(unit.host.start);
                                         });
      return next == units.begin() ? none : of[static_cast<std::size_t>(next - units.begin()) - 1];
    };
    for (const analysis::GpuWork& work : recorded.works) {
      if (work.call == analysis::kNoPlace) continue;
      const double launch = recorded.calls[work.call].begin;
      Unit& unit = at(launch);
      unit.launches = unit.works == 0 ? launch : std::min(unit.launches, launch);
      unit.done = std::max(unit.done, work.end);
      ++unit.works;
    }
    using Role = analysis::CallRole;
    for (const analysis::HostCall& call : recorded.calls) {
      if (call.role == Role::kDeviceWait || call.role == Role::kStreamWait ||
          call.role == Role::kEventWait)
        at(call.begin).waits = true;
    }
    for (const std::int64_t ns : wait_frames_)
      at(recorded.Micros(ns)).waits = true;
    std::erase_if(of, [](const Unit& unit) { return unit.works == 0; });
    std::size_t apart = 0;
    for (std::size_t i = 1; i < of.size(); ++i)
      apart += of[i].launches >= of[i - 1].done ? 1U : 0U;
    const auto waits = static_cast<std::size_t>(std::ranges::count_if(of, &Unit::waits));
    return !of.empty() && 2 * waits > of.size() && 2 * apart >= of.size() - 1;
  }

  // Where the GPU may set the pace without the profiler, or other ranks, which it slows as well,
  // nobody knows what is left of a saving in the middle.
  bool MiddleIsSure() const {
    constexpr double kRanks = 0.05;    // of the unit
    constexpr double kClearly = 1.15;  // times what the GPU needs, however dear recording was
    const WallBase& wall = out_.wall;
    const double exposed_ms = static_cast<double>(base_.balance.exposed_comm_ns) / 1e6;
    return TellsUnrecorded(wall) && wall.unrecorded_ms->low > kClearly * wall.gpu_floor_ms &&
           exposed_ms < kRanks * wall.wall_ms;
  }

  // Without what the profiler cost: middles of what it may have been.
  void LeaveRecordingOut() {
    WallBase& wall = out_.wall;
    const Changes given = given_.changes;
    const auto beside = [&](const std::vector<analysis::HostCost>& costs) {
      Changes changes = given;
      changes.emplace_back(analysis::RemoveProfilerCost{costs});
      return simulation_.Given(std::move(changes));
    };
    out_.slow = beside(recording_.least);
    wall.of_unrecorded = true;
    wall.wall_ms =
        std::clamp(Without(recording_.middle), wall.unrecorded_ms->low, wall.unrecorded_ms->high);
    wall.unrecorded_ms->mid = wall.wall_ms;
    given_ = beside(recording_.middle);
    wall.given = std::make_shared<const analysis::GivenChanges>(given_);
  }

  double Without(const std::vector<analysis::HostCost>& costs) const {
    const Changes none = {analysis::RemoveProfilerCost{costs}};
    const double saved = simulation_.Saved(given_, scope_.Of(simulation_.recorded(), none));
    return out_.wall.wall_ms - std::clamp(saved, 0.0, out_.wall.wall_ms);
  }

  // What remains of the steps if GPU work took no time, and if the host took none.
  void Floors() {
    WallBase& wall = out_.wall;
    analysis::ScaleGpu no_gpu;
    no_gpu.factors = {0};
    for (const analysis::GpuWork& work : simulation_.recorded().works)
      no_gpu.events.push_back(work.event);
    const analysis::TimeSpan frame = frames_.frame;
    analysis::ScaleHost no_host;
    no_host.factor = 0;
    no_host.stretches.push_back({analysis::kAllTracks, frame.start, frame.end});
    const auto left = [&](analysis::Change change) {
      const Changes scoped = scope_.Of(simulation_.recorded(), std::vector{std::move(change)});
      return std::clamp(wall.wall_ms - simulation_.Saved(given_, scoped), 0.0, wall.wall_ms);
    };
    wall.host_floor_ms = left(std::move(no_gpu));
    // What a host does that is ahead lies before the steps' time, so the replay does not hold it.
    if (frames_.runs_ahead) {
      const auto working = static_cast<double>(frames_.host_working_ns);
      wall.host_floor_ms = std::min(working / 1e6, wall.wall_ms);
    }
    const double busy_ms = static_cast<double>(base_.balance.busy_ns()) / 1e6;
    // Work that comes late is no bound where the GPU hardly works at all: it waits for code that is
    // loaded and memory that is taken, which happens once.
    const bool hardly = busy_ms < limits::kHardlyBusy / 100 * wall.wall_ms;
    wall.gpu_floor_ms = std::min(busy_ms, wall.wall_ms);
    const double exposed_ms = static_cast<double>(base_.balance.exposed_comm_ns) / 1e6;
    wall.gpu_own_ms = std::max(0.0, wall.gpu_floor_ms - exposed_ms);
    if (!hardly) wall.gpu_floor_ms = std::max(wall.gpu_floor_ms, left(std::move(no_host)));
  }

  // What no saving is of: the profiler's pauses, what happens once, and work launched before the
  // recording.
  void Given() {
    WallBase& wall = out_.wall;
    const double least = limits::kProfilerShare / 100 * wall.recorded_ms;
    Changes steady;  // of these, what lies in the steps that savings are of
    const auto leave_out = [&](analysis::Change change, double* saved_ms) {
      const Changes one = {std::move(change)};
      const double saved = simulation_.Saved({}, one);
      const Changes part = scope_.Of(simulation_.recorded(), one);
      const double here = std::max(0.0, simulation_.Saved({}, part));
      if (saved < least && here < limits::kProfilerShare / 100 * wall.wall_ms) return;
      *saved_ms = here;
      steady.insert(steady.end(), part.begin(), part.end());
      given_.changes.push_back(one.front());
    };
    if (!recording_.artefact.empty())
      leave_out(analysis::RemoveProfilerCost{recording_.artefact}, &wall.profiler_ms);
    Changes quick;
    if (!recording_.first_calls.empty()) {
      analysis::ScaleHost once;
      once.factor = 0;
      for (const Interval<std::int64_t>& one : recording_.first_calls)
        once.stretches.push_back({analysis::kAllTracks, one.start, one.end});
      // A warm pass that was worked out of a cold one is without them already.
      if (frames_.base.warm_estimated)
        given_.changes.emplace_back(once);
      else
        leave_out(once, &wall.first_calls_ms);
      quick.emplace_back(std::move(once));
    }
    const double all = steady.empty() ? 0 : std::max(0.0, simulation_.Saved({}, steady));
    wall.wall_ms = std::max(0.0, wall.wall_ms - all);
    if (!scope_.foreign().empty()) {
      out_.behind = simulation_.Given(given_.changes);
      given_.changes.emplace_back(analysis::ScaleGpu{scope_.foreign(), {0}});
      quick.push_back(given_.changes.back());
    }
    given_ = simulation_.Given(std::move(given_.changes));
    wall.given = std::make_shared<const analysis::GivenChanges>(given_);
    if (recording_.most.empty()) return;
    wall.low_without_recording = true;
    const double shortest = Without(recording_.most), longest = Without(recording_.least);
    wall.unrecorded_ms = Range{std::min(shortest, longest), (shortest + longest) / 2, longest};
    quick.emplace_back(analysis::RemoveProfilerCost{recording_.most});
    out_.quick = simulation_.Given(std::move(quick));
  }

  const std::vector<std::int64_t> wait_frames_;
  const analysis::Simulation& simulation_;
  const analysis::TimeFrames& frames_;
  const StepBase base_;  // how often its work repeats changes no time
  const TimeScope scope_;
  const RecordingShare recording_;
  const Job& job_;
  analysis::GivenChanges given_;  // savings are beyond these
  WallGround out_;
};

std::vector<std::int64_t> WaitFrames(const trace::EventStore& events) {
  trace::ByName<bool> waits(events, [](std::string_view name) {
    return analysis::IsGpuWaitFrame(name) ||
           name.find("BlockHostUntilReady") != std::string_view::npos;
  });
  std::vector<std::int64_t> begins;
  for (trace::EventIndex e = 0; e < events.size(); ++e) {
    const trace::EventKind kind = events[e].kind;
    const bool named =
        kind == trace::EventKind::kPythonFunction || kind == trace::EventKind::kCpuOp;
    if (named && waits.Of(e)) begins.push_back(events[e].ts_ns);
  }
  return begins;
}

Result<WallGround> MakeGround(const session::LoadedTrace& trace, const Job& job) {
  JV_ASSIGN(const auto host, session::HostOf(trace, job));
  if (host->launching.launches == 0) {
    // Without a link from launches to work nothing is known of what waits for what.
    WallGround out;
    out.wall.why_not = "no launch is linked with its GPU work, so dependencies are unknown.";
    return out;
  }
  JV_ASSIGN(const auto simulation, session::SimulationOf(trace, job));
  JV_ASSIGN(const auto frames, session::FramesOf(trace, job));
  JV_ASSIGN(const auto profiling, session::ProfilingCostOf(trace, job));
  JV_ASSIGN(const auto first_calls, session::FirstCallsOf(trace, job));
  RecordingShare share;
  for (const analysis::HostCost& cost : profiling->stretches) {
    const auto sure = [&](double ns) {
      analysis::HostCost one = cost;
      one.low_ns = one.likely_ns = one.high_ns = ns;
      return one;
    };
    share.most.push_back(sure(cost.high_ns));
    share.middle.push_back(sure(cost.expected_ns()));
    share.least.push_back(sure(cost.low_ns));
  }
  share.artefact = analysis::FramePauses(*profiling);
  share.first_calls = first_calls->intervals;
  return GroundMaker(*simulation, frames->frames, std::move(share), WaitFrames(trace.events()), job)
      .Run();
}

}  // namespace

Result<std::shared_ptr<const WallGround>> WallGroundOf(const session::LoadedTrace& trace,
                                                       const Job& job) {
  using Made = session::DerivedCache::Made<WallGround>;
  return trace.derived().Get(GroundKey{}, job, [&]() -> Result<Made> {
    JV_ASSIGN(WallGround made, MakeGround(trace, job));
    const std::size_t bytes = sizeof(made) + made.quick.MemoryBytes() + made.behind.MemoryBytes() +
                              (made.wall.given == nullptr ? 0 : made.wall.given->MemoryBytes());
    return Made{std::make_shared<const WallGround>(std::move(made)), bytes};
  });
}

}  // namespace jarvis::findings
