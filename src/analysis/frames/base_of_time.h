// The base of time: the stretch of the recording that every figure and share is of, and the unit
// that a user waits for. What is in no unit (a cold start, odd steps, work of before) has a figure
// of its own and is in no figure of the base.
//
// The unit is the first of these that passes the checks: marked steps; iterations or requests of an
// engine; passes of the outermost module; iterations of a data loader or an optimizer, or of
// another scope that repeats all over the recording; periods of the whole kernel sequence; the
// recording. Checks: at least 90 % of the GPU's work is launched in units; a period of kernels is a
// unit only if every kernel outside it also occurs inside.
//
// Times are nanoseconds on the trace's clock. Pure functions of a trace: any thread, same answer
// for the same input. O(n log n) in events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/frames/frame_facts.h"
#include "analysis/frames/regimes.h"
#include "analysis/frames/step_finder.h"

namespace jarvis::analysis {

// Where the GPU is at work that was launched before the recording, or at none that is recorded.
struct UnrecordedHead {
  std::int64_t end_ns = 0;          // from here on its time is the recording's own
  bool any = false;                 // there is such work
  bool held_up = false;             // by what is not recorded
  std::vector<EventIndex> foreign;  // GPU events without a launch at the head of their stream, by
                                    // index
  bool IsForeign(EventIndex gpu) const;
};
// unrecorded_head.cpp
UnrecordedHead FindUnrecordedHead(const FrameFacts& facts, std::vector<EventIndex> foreign);

// Calls that only the first of their kind takes, by start: a kernel's first launch, a library's
// set-up, memory taken from the driver; those in which the GPU had mostly nothing to do. In
// one_time.cpp.
std::vector<TimeSpan> FindOneTimeCalls(const FrameFacts& facts);

struct BaseOfTime {
  TimeUnit unit = TimeUnit::kRecording;
  UnitGroup group;   // of how many of these one is that figures are of
  std::string name;  // of the mark, scope or module; empty: none
  StepSource source = StepSource::kNone;
  std::string reason;                 // why no unit was found; empty if one was
  bool part_of_pass = false;          // ... because layers were recorded, and no whole pass
  std::vector<FoundStep> host_units;  // host time of all units, by start
  std::vector<FoundStep> host_parts;  // of groups: the steps, passes... one by one; else empty
  std::vector<TimeSpan> units;        // what units take; as `host_units`
  std::vector<StepHole> holes;        // in which units are missing
  bool open_end = false;              // nothing shows the end of the last unit
  bool by_completion = false;         // the GPU lags: a unit runs from one completion to the next
  Regimes regimes;                    // which units figures are of

  TimeSet base;            // the units that figures are of; what was cut out is not in it
  TimeSet host_base;       // the host's time for them
  std::int64_t count = 1;  // units in the base
  std::int64_t ns() const { return Length(base); }
  std::int64_t unit_ns() const { return ns() / count; }
  const std::vector<FoundStep>& host_each() const {
    return host_parts.empty() ? host_units : host_parts;
  }
  std::string unit_text() const { return UnitText(unit, group); }
  double recorded_units() const;  // whether in the base or not; of groups with the parts of one
  std::uint64_t recorded_parts() const;  // the steps, passes... that they are of
  // Steps, passes... in the base: what groups are held by against those of another recording.
  std::int64_t parts() const { return count * static_cast<std::int64_t>(group.size); }
  std::int64_t part_ns() const { return ns() / parts(); }
  // One cold pass was recorded: its one-time work is cut out of the base, as a warm pass has none.
  bool warm_estimated = false;

  TimeSpan recording{};
  UnrecordedHead head;
  // recording = base + one-time work (unless it lies in the base) + unrecorded + left out.
  std::int64_t one_time_ns = 0;
  bool one_time_in_base = false;
  std::int64_t unrecorded_ns = 0;
  std::int64_t left_out_ns = 0;
  TimeSet first_calls;  // all of the recording
  TimeSet one_time;     // of a single pass: its one-time stretches
};

// Whether units that recur in a fixed order are one unit together. Ranks are held against each
// other step by step, so that theirs are not.
enum class GroupUnits : std::uint8_t { kNever, kWhereTheyRecur };

BaseOfTime FindBaseOfTime(const FrameFacts& facts, UnrecordedHead head, GroupUnits grouping);

}  // namespace jarvis::analysis
