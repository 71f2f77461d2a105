// The platform of a device that the trace does not name, or names without telling ("AMD Radeon
// Graphics"): by its compute units, its memory and its architecture.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "perf/platform.h"

namespace jarvis::perf {

struct DeviceProperties {
  std::optional<std::int64_t> units;         // streaming multiprocessors, compute units
  std::optional<std::int64_t> memory_bytes;  // as the driver reports it
  std::optional<std::int64_t> compute_major, compute_minor;
};

// Null: several platforms have these properties, or none that is known. Units, architecture and
// memory must all be given and fit.
const Platform* MatchProperties(const DeviceProperties& properties);

// The slowest of NVIDIA's data-centre devices with so many streaming multiprocessors, so that no
// saving is told too large; null: none, or too many kinds of devices have as many. `volta`: its
// kernels are built for Volta, whose number others have too.
// Source: the architecture white papers of V100 (80), A100 (108), H100 (114, 132) and B200 (148).
struct UnitsMatch {
  const Platform* platform;
  std::string_view family;  // "A100": what is sure
};
std::optional<UnitsMatch> MatchUnits(std::int64_t units, bool volta);

// What is sure of a device that is one of several: "A100 80 GB" (module or card), "MI210 or one die
// of an MI250"; empty: nothing.
std::string_view ClassOfProperties(const DeviceProperties& properties);

// The slowest device of that class; nullopt: no class is known.
std::optional<UnitsMatch> MatchClass(const DeviceProperties& properties);

// "304 units, 206 GB, compute 9.4"; empty: nothing is known.
std::string PropertiesText(const DeviceProperties& properties);

}  // namespace jarvis::perf
