// What the hosts of a job's ranks lose together: a loss that all have is nobody's, and how many of
// them stand still at once tells how many processors they share.
//
// Times are nanoseconds.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "analysis/ranks/fleet.h"
#include "analysis/ranks/rank_causes.h"
#include "base/interval.h"

namespace jarvis::analysis {

// `standing`: by process, sorted, when it stands still; of the time `within`. Absent: no count of
// them holds for most of the time, more than chance makes it, or they go on together, as processes
// do that were waiting for one of them.
std::optional<StandingStill> CountStanding(const std::vector<IntervalSet<std::int64_t>>& standing,
                                           Interval<std::int64_t> within);

// A rank, or a host, is not slow that idles longer while it loses about as much as the others do
// and its host has no more to do: it has less work queued ahead.
void ForgiveSharedLoss(const RankSet& set, const JobStory& story, FleetFindings* fleet);

}  // namespace jarvis::analysis
