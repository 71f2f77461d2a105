// What the parts of the list of qualities share.
#pragma once

#include <string>

#include "analysis/frames/base_of_time.h"
#include "findings/one/quality.h"

namespace jarvis::findings {

// What times are compared with: the steps that the user waits for together (StepBaseOf), or all
// that was recorded if no steps are found.
struct TimeBase {
  double ms = 0;
  std::string name;  // "step", "steps", "trace"
};
TimeBase TimeBaseOf(const session::LoadedTrace& trace);
// All that was recorded: of what is no part of a step.
TimeBase RecordingOf(const session::LoadedTrace& trace);
// Of what happens once: the recording where odd steps are set apart, as it is in these.
TimeBase OnceBaseOf(const session::LoadedTrace& trace);

// Fills in `ms`, `percent` and `base`. `high_ms` 0: no range. No share is above 100 %.
void SetTime(const TimeBase& base, double ms, double high_ms, Quality* quality);

// " per step", " per group": of what a figure is where it is of one of several.
const char* PerUnit(const analysis::BaseOfTime& base);

// Three digits, never an exponent.
std::string ShortNumber(double value);

}  // namespace jarvis::findings
