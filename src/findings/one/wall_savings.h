// What findings save of the wall time: each one's change is made in the trace's own dependencies,
// and these are replayed (analysis/simulation). Alone, and after those ranked before it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/simulation/simulation.h"
#include "base/interval.h"
#include "findings/one/finding.h"
#include "findings/one/time_scope.h"

namespace jarvis::findings {

struct Analysis;

// What wall times are told of, and how far they can be believed.
struct WallBase {
  bool known = false;      // false: savings are GPU time, nobody knows what they are worth
  std::string why_not;     // a sentence; empty if known
  std::string range_only;  // why middles are not to be told; empty: they may be
  double recorded_ms = 0;  // from the first to the last activity
  // What savings are of: the units of Analysis::base, without what happens once and without what
  // the profiler cost where that is a frame artefact. Of one unit: Analysis::base.Each().
  double wall_ms = 0;
  double profiler_ms = 0;     // the artefact that is left out of it; 0: none
  double first_calls_ms = 0;  // the first calls that are left out of it; 0: none worth it
  double host_floor_ms = 0;   // if GPU work took no time
  double gpu_floor_ms = 0;    // if the host took none
  double replay_error_percent = 0;
  double matched_waits_percent = 0;
  double opaque_percent = 0;
  // All findings but those of what happens once, each by its better way.
  std::optional<Range> together_ms;
  // Low ends of ranges are what is left if recording cost the host all that it may have.
  bool low_without_recording = false;
  // What savings are beyond: the profiler's pauses, first calls, work launched before the
  // recording. Null: not known.
  std::shared_ptr<const analysis::GivenChanges> given;
};

// What is no cost of the program's steady steps, though it was recorded.
struct RecordingShare {
  std::vector<analysis::HostCost> artefact;  // of the profiler, certain; may be empty
  // All that profiling may have cost: what the host would save is at least what it saves without
  // it.
  std::vector<analysis::HostCost> most;
  IntervalSet<std::int64_t> first_calls;  // host time that happens once
};

// Fills wall_a, wall_b, shows_after, minor and the class of the analysis' findings and puts them in
// order: each time what saves the most wall time once those before it are done. Those without a
// saving come last, what happens once before them unless it is most of the recording. Findings
// about the host that would not show are left out. Without a simulation that answers, all stays as
// it is. Ids are those that findings get by their new order ("f1" is the first).
void FillWallSavings(const trace::EventStore& events, const analysis::Simulation& simulation,
                     const TimeScope& scope, const RecordingShare& recording, Analysis* analysis);

}  // namespace jarvis::findings
