// What would a change do to the wall time of a trace? Its own dependencies are inferred, replayed,
// and replayed again with the change made.
//
// That a replay gives the recorded wall time proves little: a graph without any wait of the host
// does, too, and then answers that no kernel matters. What counts is how much of the host's waiting
// is explained by work that it waited for, and that every defensible reading of the trace gives the
// same answer. So answers have a range over such readings, and quality() says the rest.
//
// Const after Make: any number of threads may ask. Deterministic. A question costs one pass over
// the graph for every reading.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/simulation/change.h"
#include "analysis/simulation/dependency_graph.h"
#include "analysis/simulation/recorded_work.h"
#include "analysis/simulation/replay.h"
#include "base/job.h"
#include "base/result.h"
#include "trace/event_store.h"
#include "tree/call_tree.h"

namespace jarvis::analysis {

// Another way to read the trace that is no worse than ours.
enum class Reading : std::uint8_t {
  kOurs,
  kConstants,           // every delay at its constant
  kOpaqueAtLaunch,      // what is not explained comes before the work's launch reaches the GPU
  kNoHiddenWaits,       // what looks like unrecorded waits is host work
  kAllHiddenWaits,      // and so is less of it than we think
  kNoInferredWaits,     // streams wait for each other only where a call says so
  kThreadsIndependent,  // no thread waits for another
  kCollectivesPinned,   // collectives end when other ranks let them
};
std::string_view ReadingText(Reading reading);

struct SimulationQuality {
  double wall_ms = 0;  // from the first to the last activity of launching threads and GPU
  double replay_error_percent = 0;     // of the wall, every delay at its constant
  double wait_ms = 0;                  // of the host for the GPU, by its calls
  double matched_waits_percent = 100;  // of that: explained by work that was waited for
  double opaque_percent = 0;           // of the critical path: delays without a known cause
  double unrecorded_percent = 0;  // of the critical path: GPU busy with work that is not recorded
  double silent_percent = 0;      // of the critical path: host silent for a millisecond or more
  double silent_busy_ms = 0;      // host silent while the GPU works: waits that nobody recorded?
  double clock_shift_us = 0;      // by which GPU times were moved to agree with the host's
  std::uint64_t works = 0;        // GPU work in the graph
  std::uint64_t calls = 0;
  std::uint32_t dropped_edges = 0;
  std::uint32_t hidden_waits = 0;  // accepted
  std::uint32_t launch_queue = 0;  // its length where it was full; 0: never
  // Why wall times after a change are not told; the floors hold all the same. Empty: they are.
  std::string refusal;
  // Why a range is all that should be told. Empty: the expected saving may be told, too.
  std::string range_only;
};

struct Outcome {
  double before_ms = 0;
  double after_ms = 0;
  double saved_ms = 0;  // negative: the change costs time
  double low_ms = 0;    // of the saving: over readings, the replay's error, the change's own limits
  double high_ms = 0;
  double gpu_ms = 0;       // GPU time that the changes take away, summed
  double host_ms = 0;      // host time outside waits that they take away
  double read_low_ms = 0;  // low_ms before the margins of a replay, which are parts of `before_ms`
  // Saved if this rank alone changes, and others still decide when collectives end. Absent: the
  // trace has none. The other figures are of a change on every rank.
  std::optional<double> this_rank_ms;
  Reading lowest = Reading::kOurs;  // which readings the ends of the range are from
  Reading highest = Reading::kOurs;
};

// Edges whose delays are others than before, with these.
using DelayEdits = std::vector<std::pair<std::uint32_t, double>>;

// Changes that every question takes for made, and what the wall time is with them.
struct GivenChanges {
  std::vector<Change> changes;
  // What they do to the delays, so that no question makes them again: of each reading as expected,
  // of ours at its least and most, and of what was recorded.
  std::vector<DelayEdits> of_readings;
  DelayEdits least, most, of_recorded;
  std::vector<double> wall_us;  // by reading
  double saved_ms = 0;          // by them, expected
  double gpu_ms = 0;            // that they take away
  double host_ms = 0;

  std::size_t MemoryBytes() const;
};

// What changes take away, wherever it lies.
struct RemovedTime {
  double gpu_ms = 0;   // GPU time, summed
  double host_ms = 0;  // host time outside waits
};

// What is done already, for questions of what else is to be done: delays, and the wall time.
struct DoneChanges {
  Delays delays;
  double wall_us = 0;
};

// A stretch of the critical path, in the trace's own time.
struct PathStep {
  double begin_us = 0;  // from RecordedWork's time 0
  double end_us = 0;
  double recorded_us = 0;  // when its end was recorded; differs once changes are made
  EdgeKind kind = EdgeKind::kStart;
  bool opaque = false;                        // most of it is a delay without a known cause
  std::uint32_t thread = kNoPlace;            // of host steps: RecordedWork::threads
  trace::EventIndex event = trace::kNoEvent;  // the GPU work or the call

  double us() const { return end_us - begin_us; }
};

class Simulation {
 public:
  // Errors: kCancelled.
  static Result<Simulation> Make(const trace::EventStore& events, const tree::CallTree& tree,
                                 const Job& job);

  // There is nothing to simulate: no GPU work, or no call that launches or waits.
  bool empty() const { return graph_.nodes() <= 1 || recorded_.works.empty(); }
  const SimulationQuality& quality() const { return quality_; }
  // The wall if GPU work took no time, and if the host took none.
  double host_floor_ms() const { return host_floor_ms_; }
  double gpu_floor_ms() const { return gpu_floor_ms_; }

  Outcome WhatIf(std::span<const Change> changes) const { return WhatIf({}, changes); }
  // Beyond what is given; every reading is compared with itself.
  Outcome WhatIf(const GivenChanges& given, std::span<const Change> changes) const;
  GivenChanges Given(std::vector<Change> changes) const;
  // saved_ms of WhatIf, without its range: one pass.
  double Saved(const GivenChanges& given, std::span<const Change> changes) const;
  // gpu_ms and host_ms of WhatIf, without a pass.
  RemovedTime Removed(const GivenChanges& given, std::span<const Change> changes) const;
  // What each list of changes saves once those before it are made: expected, in milliseconds. One
  // pass a list; WhatIf says what each saves alone.
  std::vector<double> SavedInOrder(std::span<const std::vector<Change>> lists) const;
  // What each of the candidates would save beyond `done`: expected, in milliseconds. One pass a
  // candidate.
  std::vector<double> SavedAfter(const DoneChanges& done,
                                 std::span<const std::vector<Change>> candidates) const;
  // Nothing is done, or what is given, or what was done before and the changes.
  DoneChanges Done(const GivenChanges& given) const;
  void Do(std::span<const Change> changes, DoneChanges* done) const;
  // By time; together they take the wall time, once the changes are made.
  std::vector<PathStep> CriticalPath(std::span<const Change> made = {}) const;

  const RecordedWork& recorded() const { return recorded_; }
  const DependencyGraph& graph() const { return graph_; }
  std::size_t MemoryBytes() const;

 private:
  // The delays of a reading: ours with some replaced.
  struct ReadingDelays {
    Reading reading;
    Delays all;          // of kConstants; else empty
    DelayEdits differs;  // from ours
    double wall_us = 0;
  };

  void Build(const trace::EventStore& events, const tree::CallTree& tree);
  void MakeReadings(bool hidden, bool candidates, bool inferred, bool hand_overs, bool collectives);
  void AddReading(Reading reading, const Delays& delays);
  void Judge(const LaunchQueue& queue);
  Delays DelaysOf(const ReadingDelays& reading) const;
  // What changes do to some delays.
  DelayEdits EditsOf(const Delays& delays, std::span<const Change> changes,
                     Estimate estimate) const;
  double Before(std::size_t reading, const GivenChanges& given) const {
    return given.wall_us.empty() ? readings_[reading].wall_us : given.wall_us[reading];
  }
  double WallAfter(std::size_t reading, const GivenChanges& given, std::span<const Change> changes,
                   Estimate estimate, std::vector<double>* times) const;
  // Of the changes and what is given.
  RemovedTime AllRemoved(const GivenChanges& given, std::span<const Change> changes) const;
  void Widen(std::span<const Change> changes, Outcome* outcome) const;
  double SilentShare(std::span<const Change> changes) const;
  ChangeTarget Target() const { return {recorded_, graph_, waits_, fitted_.observed}; }

  RecordedWork recorded_;
  HostWaits waits_;
  DependencyGraph graph_;
  FittedGraph fitted_;
  std::vector<ReadingDelays> readings_;  // ours first
  SimulationQuality quality_;
  double host_floor_ms_ = 0;
  double gpu_floor_ms_ = 0;
  double host_path_us_ = 0;  // host time outside waits, of all threads
};

}  // namespace jarvis::analysis
