#include "session/device_units.h"

#include <algorithm>

#include "analysis/attribution/compute_units.h"

namespace jarvis::session {

std::optional<perf::UnitsMatch> UnitsMatchOf(const LoadedTrace& trace) {
  if (!trace.trace().metadata.devices.empty()) return std::nullopt;
  const trace::EventStore& events = trace.events();
  const auto& gpu = trace.attribution().timeline;
  const auto units = analysis::ComputeUnitsByGrids(events, gpu);
  if (!units) return std::nullopt;
  if (const auto match = perf::MatchUnits(*units, false)) return match;
  const bool volta = std::any_of(gpu.begin(), gpu.end(), [&](trace::EventIndex e) {
    return events.name(e).find("volta_") != std::string_view::npos;
  });
  return perf::MatchUnits(*units, volta);
}

}  // namespace jarvis::session
