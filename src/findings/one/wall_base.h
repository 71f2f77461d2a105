// What savings of wall time are of, and beyond what: the steps that the user waits for, without the
// profiler's pauses, what happens once, and work launched before the recording. A trace's own: no
// finding has a part in it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "analysis/simulation/simulation.h"
#include "base/job.h"
#include "base/result.h"
#include "findings/one/finding.h"
#include "session/loaded_trace.h"

namespace jarvis::findings {

// What wall times are told of, and how far they can be believed.
struct WallBase {
  bool known = false;      // false: savings are GPU time, nobody knows what they are worth
  std::string why_not;     // a sentence; empty if known
  std::string range_only;  // why middles are not to be told; empty: they may be
  double recorded_ms = 0;  // from the first to the last activity
  // What savings are of: the units of Analysis::base, without what happens once and without what
  // the profiler cost where that is a frame artefact, or where it made the units longer by much
  // (of_unrecorded). Of one unit: Analysis::base.Each().
  double wall_ms = 0;
  double profiler_ms = 0;     // the artefact that is left out of it; 0: none
  double first_calls_ms = 0;  // the first calls that are left out of it; 0: none worth it
  double host_floor_ms = 0;   // if GPU work took no time
  double gpu_floor_ms = 0;    // if the host took none
  double gpu_own_ms = 0;      // the GPU's work but communication that nothing hides
  // In each unit the host waits for the GPU, and nothing of the next is launched before: more work
  // for the GPU makes the unit as much longer.
  bool in_turns = false;
  double replay_error_percent = 0;
  double matched_waits_percent = 0;
  double opaque_percent = 0;
  // All findings but those of what happens once, each by its better way.
  std::optional<Range> together_ms;
  // The same of those that keep every bit. Absent: all do, or what the others save is little of it.
  std::optional<Range> exact_ms;
  double gpu_left_ms = 0;  // of gpu_own_ms, once all of them do their most
  // What a host that took no time would save beyond all of them, where the first one makes the GPU
  // faster by much; 0: not asked.
  double host_then_ms = 0;
  // Low ends of ranges are what is left if recording cost the host all that it may have.
  bool low_without_recording = false;
  // The units without what recording cost the host, at its most (low) and at its least (high);
  // absent: it cost nothing that is known.
  std::optional<Range> unrecorded_ms;
  // Middles of savings, and wall_ms, are of the middle of it, their ends of its ends.
  bool of_unrecorded = false;
  // What savings are beyond: the profiler's pauses, first calls, work launched before the
  // recording. Null: not known.
  std::shared_ptr<const analysis::GivenChanges> given;
};

// The same with what only whoever asks for more savings needs.
struct WallGround {
  WallBase wall;
  // What is given, without all that profiling may have cost, if wall.low_without_recording; and
  // without what it cost at the least, if wall.of_unrecorded.
  analysis::GivenChanges quick;
  analysis::GivenChanges slow;
  // With the work launched before the recording, if there is any: the first of several steps finds
  // the GPU at work, as the others do.
  analysis::GivenChanges behind;
};

// Kept with the trace. Errors: kCancelled.
Result<std::shared_ptr<const WallGround>> WallGroundOf(const session::LoadedTrace& trace,
                                                       const Job& job);

}  // namespace jarvis::findings
