// Which unit of a recording the host was in; internal to the layer.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "analysis/frames/step_finder.h"

namespace jarvis::findings {

// The last of the units, which are by start, that begins at or before a host time, whether it has
// ended by then or not; null: none does.
inline const analysis::FoundStep* UnitBegunBy(std::span<const analysis::FoundStep> units,
                                              std::int64_t host_ns) {
  const auto after = std::partition_point(
      units.begin(), units.end(), [&](const auto& unit) { return unit.host.start <= host_ns; });
  return after == units.begin() ? nullptr : &*(after - 1);
}

// The one that holds it; null: none does.
inline const analysis::FoundStep* UnitAt(std::span<const analysis::FoundStep> units,
                                         std::int64_t host_ns) {
  const analysis::FoundStep* unit = UnitBegunBy(units, host_ns);
  return unit != nullptr && host_ns < unit->host.end ? unit : nullptr;
}

}  // namespace jarvis::findings
