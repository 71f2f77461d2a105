// The ops of each unit that launch GPU work, in their order on one thread: what repeats in a unit
// is told by them; internal to the layer.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "analysis/frames/step_finder.h"
#include "analysis/host/host_names.h"
#include "analysis/simulation/change.h"
#include "session/loaded_trace.h"

namespace jarvis::findings {

struct UnitOp {
  std::pair<StringId, StringId> op;  // name and sizes
  trace::EventIndex event = trace::kNoEvent;
  std::int64_t uploaded_bytes = 0;  // from the host; of several copies the largest
  std::int64_t read_bytes = 0;      // to the host, the same
};

// By the unit's place and the thread's track.
using OpsOfUnits = std::map<std::pair<std::size_t, std::uint32_t>, std::vector<UnitOp>>;

// The place of the unit that holds a host time; units.size(): none does.
std::size_t PlaceOfUnit(std::span<const analysis::FoundStep> units, std::int64_t host_ns);

// Calls of the host that wait inside of these stretches: they go with what runs there. In their
// order.
std::vector<trace::EventIndex> WaitsInside(const session::LoadedTrace& trace,
                                           std::span<const analysis::HostStretch> stretches,
                                           analysis::HostNames* names);

OpsOfUnits LaunchingOps(const session::LoadedTrace& trace,
                        std::span<const analysis::FoundStep> units, analysis::HostNames* names);

}  // namespace jarvis::findings
