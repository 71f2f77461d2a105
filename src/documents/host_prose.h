// What is said about a finding whose cause is the host.
#pragma once

#include <optional>
#include <string>

#include "findings/one/analysis.h"

namespace jarvis::documents {

// REQUIRES: finding.host != nullptr.
std::string HostTitle(const findings::Analysis& analysis, const findings::Finding& finding);
// Of a section: for how much of its idle time nothing was recorded, milliseconds of all units.
double NothingMs(const findings::Analysis& analysis, const findings::HostCause& cause);
std::string HostInsight(const findings::Analysis& analysis, const findings::Finding& finding);

// What a larger batch gives, whose GPU work takes as long as the host: `times` as much work. Where
// host and GPU take turns the step gets longer by what the GPU takes more, else it does not.
struct BatchGain {
  double times = 0;
  bool longer = false;
  double step_ms = 0;     // then
  double throughput = 0;  // times as much work a second
};
// Whether inputs may be put together: forward passes that no server schedules.
bool IsInference(const findings::Analysis& analysis);
// Of one forward pass after the other that leaves the GPU idle for most of the time; absent: not
// such a pass.
std::optional<BatchGain> BatchGainOf(const findings::Analysis& analysis);
// "with 5 times the batch each step takes about 6.47 ms instead of 3.60 ms"; where it gets no
// longer, "each step takes about as long".
std::string BatchText(const findings::Analysis& analysis, const BatchGain& gain);

}  // namespace jarvis::documents
