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

perf::DeviceProperties PropertiesOf(const trace::Device& device) {
  return {device.sm_count, device.memory_bytes, device.compute_major, device.compute_minor};
}

std::optional<perf::UnitsMatch> ClassMatchOf(const LoadedTrace& trace) {
  std::optional<perf::UnitsMatch> known;
  for (const trace::Device& device : trace.trace().metadata.devices) {
    const perf::DeviceProperties properties = PropertiesOf(device);
    if (perf::PropertiesText(properties).empty()) continue;  // one that nothing ran on
    const auto one = perf::MatchClass(properties);
    if (!one || (known && one->platform != known->platform)) return std::nullopt;
    known = one;
  }
  return known;
}

}  // namespace jarvis::session
