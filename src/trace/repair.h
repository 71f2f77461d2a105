// After reading: finds events that cannot be what they say, and leaves them out or clips them.
#pragma once

#include <cstdint>

#include "trace/event_store.h"

namespace jarvis::trace {

// Whether events at time 0 cannot be meant: the earliest of the others lies this late.
bool ZeroIsNoTime(std::int64_t earliest_other_ns);

// Flags events (kLeftOut, kClipped) and counts what it found in store->oddities:
// - events at time 0 in a trace that runs elsewhere,
// - a few events that are hours from all others,
// - GPU events that are in the file more than once,
// - GPU events that run past whole later events on their own stream. A stream runs one thing after
//   another, and launches that overlap by design (programmatic dependent launch) overlap only the
//   next one, and only in part; so such a duration is wrong.
void Repair(EventStore* store);

}  // namespace jarvis::trace
