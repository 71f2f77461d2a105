// The device of a trace that does not list its devices, by how many units its kernels ran on.
#pragma once

#include <optional>

#include "perf/device_match.h"
#include "session/loaded_trace.h"

namespace jarvis::session {

// Absent: the trace lists its devices, or its kernels do not say. Looks at a part of the trace
// each time that it is asked.
std::optional<perf::UnitsMatch> UnitsMatchOf(const LoadedTrace& trace);

}  // namespace jarvis::session
