// What the lengths of equal calls say of a collective in the trace of one rank.
#pragma once

#include <optional>
#include <string>

#include "session/loaded_trace.h"

namespace jarvis::findings {

// "The 58 calls of all_to_all take 93.4 µs to 1530 µs, median 712 µs: ...": of the costliest kind.
// Where nearly all calls are of one length, that is their transfer, and only those that stand out
// can be waits; where most take many times the shortest, most of it is waiting. Absent: neither.
std::optional<std::string> EqualCallsText(const session::LoadedTrace& trace);

// What equal calls take beyond the shortest of them, in ms, where most take many times that: of all
// such kinds of one rank. Absent: there are none.
std::optional<double> WaitingMs(const session::LoadedTrace& trace);

}  // namespace jarvis::findings
