// Which groups of a fleet move their bytes slowly, and which hosts or links these have in common.
#pragma once

#include "analysis/ranks/fleet.h"

namespace jarvis::analysis {

// After FindFleetHosts.
void CompareFleetLinks(const RankSet& set, const JointTimeline& joint, FleetFindings* fleet);

}  // namespace jarvis::analysis
