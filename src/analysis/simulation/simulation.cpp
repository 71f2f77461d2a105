#include "analysis/simulation/simulation.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include <fmt/format.h>

#include "analysis/simulation/clock_alignment.h"
#include "analysis/simulation/hidden_waits.h"
#include "analysis/simulation/simulation_quality.h"
#include "base/number_text.h"
#include "base/parallel.h"

namespace jarvis::analysis {
namespace {

// A replay that is off by more than this does not know what the wall time is made of.
constexpr double kErrorMax = 15;
// Below these an expected saving is a guess within its range.
constexpr double kMatchedMin = 90;
constexpr double kWaitShareMin = 1;  // of the wall: less waiting than this matters to nobody
constexpr double kOpaqueMax = 5;

// What a range is widened by: the replay's error, and parts of the saving and of the wall, from 200
// generated programs of which 98.5 % had their true saving inside.
constexpr double kSavingShare = 0.01;
constexpr double kWallShare = 0.001;

constexpr double kToMs = 1e-3;

bool IsHostTime(EdgeKind kind) {
  return kind == EdgeKind::kHostSegment || kind == EdgeKind::kHostCall;
}

void Edit(const DelayEdits& edits, Delays* delays) {
  for (const auto& [edge, delay] : edits)
    (*delays)[edge] = delay;
}

}  // namespace

std::string_view ReadingText(Reading reading) {
  switch (reading) {
    case Reading::kOurs: break;
    case Reading::kConstants: return "every delay at its usual value";
    case Reading::kOpaqueAtLaunch: return "unexplained delays come before the launch";
    case Reading::kNoHiddenWaits: return "silent host time is work";
    case Reading::kAllHiddenWaits: return "more of the silent host time is waiting";
    case Reading::kNoInferredWaits: return "streams wait only where a call says so";
    case Reading::kThreadsIndependent: return "no thread waits for another";
    case Reading::kCollectivesPinned: return "other ranks decide when collectives end";
  }
  return "the most likely reading";
}

Result<Simulation> Simulation::Make(const trace::EventStore& events, const tree::CallTree& tree,
                                    const Job& job) {
  Simulation simulation;
  JV_TRY(job.Check());
  simulation.Build(events, tree);
  JV_TRY(job.Check());
  return simulation;
}

void Simulation::Build(const trace::EventStore& events, const tree::CallTree& tree) {
  recorded_ = CollectRecordedWork(events, tree);
  quality_.clock_shift_us = AlignClock(&recorded_);
  const bool moved = quality_.clock_shift_us != 0;
  const Calibration calibration(recorded_);
  waits_ = FindHostWaits(recorded_, moved);
  const auto stream_waits = FindStreamWaits(recorded_, calibration, waits_);
  const LaunchQueue queue = FindLaunchQueue(recorded_, calibration, waits_);
  HostPoints points = CallPoints(recorded_);
  const auto hand_overs = FindHandOvers(recorded_);
  const auto hidden = FindHiddenWaits(recorded_, points, waits_, hand_overs, moved);

  std::vector<ExtraPoint> extra;
  bool slow_hand_over = !hand_overs.empty() && hand_overs.size() < 2;
  for (const HandOver& one : hand_overs) {
    extra.push_back({one.silence.thread, one.silence.to, HostPointKind::kWake});
    extra.push_back({one.from_thread, one.done, HostPointKind::kCause});
    slow_hand_over = slow_hand_over || one.silence.to - one.done > 1000;
  }
  bool candidates = false;
  for (const HiddenWait& wait : hidden) {
    if (!wait.accepted && !wait.candidate) continue;
    extra.push_back({wait.silence.thread, wait.silence.to, HostPointKind::kWake});
    candidates = candidates || !wait.accepted;
    if (wait.accepted) ++quality_.hidden_waits;
  }
  AddPoints(std::move(extra), &points);
  graph_ =
      MakeGraph({recorded_, calibration, waits_, stream_waits, queue, points, hand_overs, hidden});
  fitted_ = Fit(graph_, {});
  const bool inferred =
      std::any_of(stream_waits.begin(), stream_waits.end(), [](const StreamWait& wait) {
        return wait.kind == StreamWaitKind::kInferred || wait.kind == StreamWaitKind::kRoom;
      });
  const bool collectives = std::any_of(recorded_.works.begin(), recorded_.works.end(),
                                       [](const GpuWork& work) { return work.collective; });
  MakeReadings(quality_.hidden_waits > 0, candidates, inferred, slow_hand_over, collectives);
  Judge(queue);
}

void Simulation::MakeReadings(bool hidden, bool candidates, bool inferred, bool hand_overs,
                              bool collectives) {
  AddReading(Reading::kOurs, fitted_.observed);
  AddReading(Reading::kConstants, fitted_.constants);
  const auto add = [&](Reading reading, const Assumptions& assumptions) {
    AddReading(reading, Fit(graph_, assumptions).observed);
  };
  if (!fitted_.opaque.empty()) {
    AddReading(Reading::kOpaqueAtLaunch, TieToLaunches(graph_, fitted_));
  }
  if (hidden) add(Reading::kNoHiddenWaits, {.hidden_waits = false});
  if (candidates) add(Reading::kAllHiddenWaits, {.hidden_candidates = true});
  if (inferred) add(Reading::kNoInferredWaits, {.inferred_waits = false});
  if (hand_overs) add(Reading::kThreadsIndependent, {.hand_overs = false});
  if (collectives) add(Reading::kCollectivesPinned, {.collective_ends = true});
}

void Simulation::AddReading(Reading reading, const Delays& delays) {
  ReadingDelays added{reading, {}, {}, 0};
  if (reading == Reading::kConstants) {
    added.all = delays;
  } else {
    for (std::uint32_t e = 0; e < delays.size(); ++e) {
      if (delays[e] != fitted_.observed[e]) added.differs.emplace_back(e, delays[e]);
    }
  }
  std::vector<double> times;
  added.wall_us = Replay(graph_, delays, &times);
  readings_.push_back(std::move(added));
}

void Simulation::Judge(const LaunchQueue& queue) {
  SimulationQuality& q = quality_;
  q.works = recorded_.works.size();
  q.calls = recorded_.calls.size();
  q.dropped_edges = graph_.dropped_edges;
  q.launch_queue = queue.length;
  std::vector<double> times;
  const double wall = Replay(graph_, fitted_.observed, &times);
  q.wall_ms = wall * kToMs;
  if (wall <= 0) return;
  q.replay_error_percent = 100 * (readings_[1].wall_us - wall) / wall;
  const MatchedWaits matched = MatchWaits(recorded_, waits_, queue);
  q.wait_ms = matched.waited_us * kToMs;
  if (matched.waited_us > 0) {
    q.matched_waits_percent = 100 * matched.matched_us / matched.waited_us;
  }
  double opaque = 0;
  double unrecorded = 0;
  double silent = 0;
  for (const PathStep& step : CriticalPath()) {
    if (step.opaque) opaque += step.us();
    if (step.kind == EdgeKind::kStart && step.event != trace::kNoEvent) unrecorded += step.us();
    if (step.kind != EdgeKind::kHostSegment) continue;
    const std::vector<double>& activity = recorded_.threads[step.thread].activity;
    double from = step.begin_us;
    for (auto at = std::upper_bound(activity.begin(), activity.end(), from); from < step.end_us;
         ++at) {
      const double to = at == activity.end() ? step.end_us : std::min(*at, step.end_us);
      if (to - from >= 1000) silent += to - from;
      from = to;
      if (at == activity.end()) break;
    }
  }
  q.opaque_percent = 100 * opaque / wall;
  q.unrecorded_percent = 100 * unrecorded / wall;
  q.silent_percent = 100 * silent / wall;
  q.silent_busy_ms = SilentWhileBusy(recorded_, graph_) * kToMs;
  Delays delays = fitted_.observed;
  for (std::size_t e = 0; e < graph_.edges.size(); ++e) {
    if (IsHostTime(graph_.edges[e].kind)) host_path_us_ += std::max(0.0, delays[e]);
  }
  ZeroGpu(graph_, &delays);
  host_floor_ms_ = Replay(graph_, delays, &times) * kToMs;
  delays = fitted_.observed;
  ZeroHost(graph_, &delays);
  gpu_floor_ms_ = Replay(graph_, delays, &times) * kToMs;
  if (std::abs(q.replay_error_percent) > kErrorMax) {
    q.refusal = fmt::format(
        "the replay of the unchanged trace is off by {:.1f} %: what bounds the wall time is not "
        "known",
        std::abs(q.replay_error_percent));
  }
  if (q.matched_waits_percent < kMatchedMin && q.wait_ms > kWaitShareMin / 100 * q.wall_ms) {
    q.range_only = fmt::format("of {} ms in which the host waits, {:.0f} % have a known cause",
                               ThreeDigits(q.wait_ms), q.matched_waits_percent);
  } else if (q.opaque_percent > kOpaqueMax) {
    q.range_only =
        fmt::format("{:.0f} % of the critical path has no known cause", q.opaque_percent);
  }
}

Delays Simulation::DelaysOf(const ReadingDelays& reading) const {
  if (!reading.all.empty()) return reading.all;
  Delays delays = fitted_.observed;
  Edit(reading.differs, &delays);
  return delays;
}

DelayEdits Simulation::EditsOf(const Delays& delays, std::span<const Change> changes,
                               Estimate estimate) const {
  DelayEdits edits;
  if (changes.empty()) return edits;
  Delays after = delays;
  ApplyChanges(Target(), changes, estimate, &after);
  for (std::uint32_t e = 0; e < after.size(); ++e) {
    if (after[e] != delays[e]) edits.emplace_back(e, after[e]);
  }
  return edits;
}

double Simulation::WallAfter(std::size_t reading, const GivenChanges& given,
                             std::span<const Change> changes, Estimate estimate,
                             std::vector<double>* times) const {
  Delays delays = DelaysOf(readings_[reading]);
  if (!given.of_readings.empty()) {
    Edit(estimate == Estimate::kLeast  ? given.least
         : estimate == Estimate::kMost ? given.most
                                       : given.of_readings[reading],
         &delays);
  }
  ApplyChanges(Target(), changes, estimate, &delays);
  return Replay(graph_, delays, times);
}

RemovedTime Simulation::AllRemoved(const GivenChanges& given,
                                   std::span<const Change> changes) const {
  RemovedTime removed;
  Delays delays = fitted_.observed;
  Edit(given.of_recorded, &delays);
  ApplyChanges(Target(), changes, Estimate::kExpected, &delays);
  for (std::size_t e = 0; e < graph_.edges.size(); ++e) {
    if (delays[e] == fitted_.observed[e] || delays[e] < kNoEdge / 2) continue;
    const double less = (fitted_.observed[e] - delays[e]) * kToMs;
    if (graph_.edges[e].kind == EdgeKind::kGpuWork) removed.gpu_ms += less;
    if (IsHostTime(graph_.edges[e].kind)) removed.host_ms += less;
  }
  return removed;
}

RemovedTime Simulation::Removed(const GivenChanges& given, std::span<const Change> changes) const {
  if (empty()) return {};
  const RemovedTime all = AllRemoved(given, changes);
  return {all.gpu_ms - given.gpu_ms, all.host_ms - given.host_ms};
}

// The part of all host time that the changes take away, if it is not known to be no wait.
double Simulation::SilentShare(std::span<const Change> changes) const {
  std::vector<Change> of_code;
  for (const Change& change : changes) {
    if (!std::holds_alternative<RemoveProfilerCost>(change)) of_code.push_back(change);
  }
  if (of_code.empty() || host_path_us_ <= 0) return 0;
  return std::clamp(AllRemoved({}, of_code).host_ms / (host_path_us_ * kToMs), 0.0, 1.0);
}

GivenChanges Simulation::Given(std::vector<Change> changes) const {
  GivenChanges given;
  given.changes = std::move(changes);
  if (empty()) return given;
  std::vector<double> times;
  for (std::size_t at = 0; at < readings_.size(); ++at) {
    given.of_readings.push_back(
        EditsOf(DelaysOf(readings_[at]), given.changes, Estimate::kExpected));
    given.wall_us.push_back(WallAfter(at, given, {}, Estimate::kExpected, &times));
  }
  const Delays ours = DelaysOf(readings_[0]);
  given.least = EditsOf(ours, given.changes, Estimate::kLeast);
  given.most = EditsOf(ours, given.changes, Estimate::kMost);
  given.of_recorded = EditsOf(fitted_.observed, given.changes, Estimate::kExpected);
  given.saved_ms = (readings_[0].wall_us - given.wall_us[0]) * kToMs;
  const RemovedTime removed = AllRemoved(given, {});
  given.gpu_ms = removed.gpu_ms;
  given.host_ms = removed.host_ms;
  return given;
}

Outcome Simulation::WhatIf(const GivenChanges& given, std::span<const Change> changes) const {
  Outcome outcome;
  if (empty()) return outcome;
  std::vector<double> times;
  outcome.before_ms = Before(0, given) * kToMs;
  bool first = true;
  const auto consider = [&](std::size_t at, Estimate estimate) {
    const double saved =
        (Before(at, given) - WallAfter(at, given, changes, estimate, &times)) * kToMs;
    if (readings_[at].reading == Reading::kCollectivesPinned) {
      outcome.this_rank_ms = saved;
      return;
    }
    if (first) {
      outcome.saved_ms = outcome.low_ms = outcome.high_ms = saved;
      outcome.after_ms = outcome.before_ms - saved;
      first = false;
    }
    if (saved < outcome.low_ms) {
      outcome.low_ms = saved;
      outcome.lowest = readings_[at].reading;
    }
    if (saved > outcome.high_ms) {
      outcome.high_ms = saved;
      outcome.highest = readings_[at].reading;
    }
  };
  for (std::size_t at = 0; at < readings_.size(); ++at)
    consider(at, Estimate::kExpected);
  if (std::any_of(changes.begin(), changes.end(), IsUncertain)) {
    consider(0, Estimate::kLeast);
    consider(0, Estimate::kMost);
  }
  const RemovedTime removed = Removed(given, changes);
  outcome.gpu_ms = removed.gpu_ms;
  outcome.host_ms = removed.host_ms;
  Widen(changes, &outcome);
  return outcome;
}

double Simulation::Saved(const GivenChanges& given, std::span<const Change> changes) const {
  if (empty()) return 0;
  std::vector<double> times;
  const double after = WallAfter(0, given, changes, Estimate::kExpected, &times);
  return (Before(0, given) - after) * kToMs;
}

// By what no reading knows.
void Simulation::Widen(std::span<const Change> changes, Outcome* outcome) const {
  // Silence of the host while the GPU works may be a wait: then less GPU time saves more, and less
  // host time saves less.
  const double silent = quality_.silent_busy_ms;
  const bool never_slower = outcome->low_ms >= 0;
  if (outcome->gpu_ms > 0) {
    outcome->high_ms =
        std::max(outcome->high_ms, std::min(outcome->gpu_ms, outcome->high_ms + silent));
  }
  outcome->low_ms -= silent * SilentShare(changes);
  const double margin = std::abs(quality_.replay_error_percent) / 100 * outcome->before_ms +
                        kSavingShare * std::abs(outcome->saved_ms) +
                        kWallShare * outcome->before_ms;
  outcome->read_low_ms = outcome->low_ms;
  outcome->low_ms -= margin;
  outcome->high_ms += margin;
  // Nothing that only takes time away makes a program slower.
  if (never_slower) outcome->low_ms = std::max(0.0, outcome->low_ms);
}

std::vector<double> Simulation::SavedInOrder(std::span<const std::vector<Change>> lists) const {
  if (empty()) return std::vector<double>(lists.size());
  std::vector<double> saved_ms;
  Delays delays = fitted_.observed;
  std::vector<double> times;
  double wall = readings_[0].wall_us;
  for (const std::vector<Change>& changes : lists) {
    ApplyChanges(Target(), changes, Estimate::kExpected, &delays);
    const double after = Replay(graph_, delays, &times);
    saved_ms.push_back((wall - after) * kToMs);
    wall = after;
  }
  return saved_ms;
}

DoneChanges Simulation::Done(const GivenChanges& given) const {
  DoneChanges done{fitted_.observed, 0};
  if (empty()) return done;
  Edit(given.of_recorded, &done.delays);
  Do({}, &done);
  return done;
}

void Simulation::Do(std::span<const Change> changes, DoneChanges* done) const {
  if (empty()) return;
  ApplyChanges(Target(), changes, Estimate::kExpected, &done->delays);
  std::vector<double> times;
  done->wall_us = Replay(graph_, done->delays, &times);
}

std::vector<double> Simulation::SavedAfter(const DoneChanges& done,
                                           std::span<const std::vector<Change>> candidates) const {
  if (empty()) return std::vector<double>(candidates.size());
  std::vector<double> saved_ms(candidates.size());
  // As many at once as there are cores: each takes room for all delays and times of the graph.
  const std::size_t threads =
      std::min(candidates.size(), static_cast<std::size_t>(DefaultThreads()));
  ParallelFor(threads, 0, [&](std::size_t first) {
    std::vector<double> times;
    Delays delays;
    for (std::size_t i = first; i < candidates.size(); i += threads) {
      delays = done.delays;
      ApplyChanges(Target(), candidates[i], Estimate::kExpected, &delays);
      saved_ms[i] = (done.wall_us - Replay(graph_, delays, &times)) * kToMs;
    }
  });
  return saved_ms;
}

std::vector<PathStep> Simulation::CriticalPath(std::span<const Change> made) const {
  std::vector<PathStep> steps;
  Delays delays = fitted_.observed;
  ApplyChanges(Target(), made, Estimate::kExpected, &delays);
  std::vector<double> times;
  Replay(graph_, delays, &times);
  for (const std::uint32_t node : PathNodes(graph_, delays, times)) {
    const std::uint32_t binding = BindingEdge(graph_, delays, times, node);
    if (binding == kNoPlace) break;
    const GraphEdge& edge = graph_.edges[binding];
    PathStep step;
    step.begin_us = times[edge.from] + graph_.start;
    step.end_us = times[node] + graph_.start;
    step.recorded_us = graph_.observed[node] + graph_.start;
    step.kind = edge.kind;
    const NodeKind kind = graph_.kinds[node];
    if (kind == NodeKind::kWorkStart || kind == NodeKind::kWorkEnd) {
      step.event = recorded_.works[graph_.items[node]].event;
    } else {
      step.thread = graph_.items[node];
      if (edge.kind == EdgeKind::kHostCall || edge.kind == EdgeKind::kReturn ||
          edge.kind == EdgeKind::kQueueFull) {
        step.event = recorded_.calls[edge.item].event;
      }
    }
    const auto opaque = std::lower_bound(
        fitted_.opaque.begin(), fitted_.opaque.end(), node,
        [](const OpaqueDelay& one, std::uint32_t wanted) { return one.node < wanted; });
    if (opaque != fitted_.opaque.end() && opaque->node == node && opaque->edge == binding) {
      // What is opaque is a step of its own, after what is known.
      PathStep rest = step;
      rest.begin_us = std::max(step.begin_us, step.end_us - opaque->us);
      rest.opaque = true;
      steps.push_back(rest);
      step.end_us = rest.begin_us;
    }
    steps.push_back(step);
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

std::size_t GivenChanges::MemoryBytes() const {
  std::size_t edits = least.capacity() + most.capacity() + of_recorded.capacity();
  for (const DelayEdits& reading : of_readings)
    edits += reading.capacity();
  return MemoryOf(changes) + edits * sizeof(DelayEdits::value_type);
}

std::size_t Simulation::MemoryBytes() const {
  std::size_t bytes = sizeof(*this);
  bytes += recorded_.calls.capacity() * sizeof(HostCall) +
           recorded_.works.capacity() * (sizeof(GpuWork) + 3 * sizeof(EventPlace)) +
           recorded_.calls.capacity() * sizeof(EventPlace);
  for (const HostThread& thread : recorded_.threads) {
    bytes += thread.calls.capacity() * sizeof(std::uint32_t) +
             thread.activity.capacity() * sizeof(double) +
             thread.in_calls.capacity() * sizeof(Interval<double>);
  }
  bytes += waits_.by_call.capacity() * sizeof(HostWait);
  bytes += graph_.nodes() * (sizeof(double) + sizeof(NodeKind) + 3 * sizeof(std::uint32_t)) +
           graph_.edges.capacity() * (sizeof(GraphEdge) + sizeof(double)) +
           2 * fitted_.observed.capacity() * sizeof(double);
  for (const ReadingDelays& reading : readings_) {
    bytes += reading.all.capacity() * sizeof(double) +
             reading.differs.capacity() * sizeof(reading.differs[0]);
  }
  return bytes;
}

}  // namespace jarvis::analysis
