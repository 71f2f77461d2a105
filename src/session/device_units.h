// The device of a trace that does not name it: by how many units its kernels ran on, or by the
// class that its properties are of.
#pragma once

#include <optional>

#include "perf/device_match.h"
#include "session/loaded_trace.h"

namespace jarvis::session {

// Absent: the trace lists its devices, or its kernels do not say. Looks at a part of the trace
// each time that it is asked.
std::optional<perf::UnitsMatch> UnitsMatchOf(const LoadedTrace& trace);

perf::DeviceProperties PropertiesOf(const trace::Device& device);
// Absent: the devices of the trace are of no class, or of several.
std::optional<perf::UnitsMatch> ClassMatchOf(const LoadedTrace& trace);

}  // namespace jarvis::session
