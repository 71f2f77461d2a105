// Which ranks of a fleet do the same work, and which are on one host.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/ranks/fleet.h"

namespace jarvis::analysis {

// Ranks whose collectives are of the same kinds and sizes, and as many, and whose GPUs run as many
// kernels. What a rank's program is it does not say, so ranks of other work may still be among
// them.
void FindFleetClasses(const RankSet& set, FleetFindings* fleet);

// `ranks_per_host`: as LookAtFleet.
void FindFleetHosts(const RankSet& set, std::optional<std::int64_t> ranks_per_host,
                    FleetFindings* fleet);

}  // namespace jarvis::analysis
