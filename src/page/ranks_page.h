// What the ranks of a job wait for as one HTML file: the report, and when each rank waited.
#pragma once

#include <string>
#include <string_view>

#include "analysis/ranks/joint_collectives.h"

namespace jarvis::page {

// `report`: ranks_analysis_fair.md. One rank alone has no map of waits.
std::string RenderRanksPage(std::string_view report, const analysis::RankSet& set,
                            const analysis::JointTimeline& joint);

}  // namespace jarvis::page
