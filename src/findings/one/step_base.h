// What the user waits for, and what every share of time in reports is of: steps, iterations, or the
// recording where nothing repeats. Work that was launched before the recording and time in which
// the GPU was busy with what is not in the trace are no part of it.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/frames/time_frames.h"
#include "base/interval.h"
#include "session/loaded_trace.h"

namespace jarvis::findings {

struct StepBase {
  // TimeUnitText; "group" of several, "warm pass" where that is estimated.
  std::string unit = "recording";
  std::size_t count = 1;      // units that `balance` is of
  analysis::Balance balance;  // of all of them together
  double total_ms = 0;        // of all of them, without foreign and unrecorded work

  double unit_ms() const { return total_ms / static_cast<double>(count); }
  // Of one unit, where `ms` is of all of them.
  double Each(double ms) const { return ms / static_cast<double>(count); }
  double Percent(double ms) const { return total_ms > 0 ? ms / total_ms * 100 : 0; }
};

// `repeats`: how often the work of the only step repeats ("iteration"); 1: it does not.
StepBase StepBaseOf(const analysis::TimeFrames& frames, std::size_t repeats);

// How long the GPU was busy with what is not recorded, between the first start and the last end of
// the GPU work that is.
double UnrecordedInWindowUs(const session::LoadedTrace& trace,
                            const IntervalSet<std::int64_t>& unrecorded);

}  // namespace jarvis::findings
