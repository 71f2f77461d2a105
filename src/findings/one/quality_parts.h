// What the parts of the list of qualities share.
#pragma once

#include <string>

#include "findings/one/quality.h"

namespace jarvis::findings {

// What times are compared with: the steps of the trace together, up to the end of their GPU work,
// or all that was recorded if no steps are found.
struct TimeBase {
  double ms = 0;
  std::string name;  // "step", "steps", "trace"
};
TimeBase TimeBaseOf(const session::LoadedTrace& trace);

// Fills in `ms`, `percent` and `base`. `high_ms` 0: no range.
void SetTime(const TimeBase& base, double ms, double high_ms, Quality* quality);

// Three digits, never an exponent.
std::string ShortNumber(double value);

}  // namespace jarvis::findings
