// The timelines of a run's ranks, as the reference's scripts read them. For run_reports*.cpp only.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "analysis/join/timeline_shares.h"
#include "compat/run_reports.h"

namespace jarvis::compat {

using ShareOfRank = std::map<std::int64_t, analysis::TimelineShare>;
using RunTimeline = std::map<std::string, ShareOfRank>;  // by type of time

RunTimeline TimelineOf(const RunTables& run);
// Over the ranks; REQUIRES: there is one.
analysis::TimelineShare MeanOf(const ShareOfRank& ranks);

}  // namespace jarvis::compat
