// What is known of each rank, host, group and step of a fleet, as tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/ranks/fleet.h"
#include "table/table.h"

namespace jarvis::analysis {

// fleet_ranks, fleet_hosts, fleet_groups, fleet_steps, fleet_kernels; those without rows are left
// out.
std::vector<Table> FleetTables(const RankSet& set, const JointTimeline& joint,
                               const FleetFindings& fleet);

// "node-0005", "host 3": of ranks that are known by their place alone.
std::string FleetHostName(const FleetFindings& fleet, std::size_t host);

std::string_view FleetCauseText(FleetCause cause);  // "" if unknown

}  // namespace jarvis::analysis
