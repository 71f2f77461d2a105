// ranks_analysis_fair.md: what the ranks of a job wait for, whose doing that is, what to do, how
// far to trust it. At most 120 lines whatever the job.
#pragma once

#include <string>
#include <vector>

#include "tools/ranks/rank_words.h"
#include "tools/ranks/rank_workload.h"

namespace jarvis::tools {

// `verdict`: of RanksVerdict, or of LoneVerdict with `lone`. `fleet`: of FleetSection, may be
// empty.
std::string RanksReport(const JobView& job, const std::string& verdict,
                        const std::vector<analysis::LoneKind>& lone, const RankWorkload* workload,
                        const std::string& fleet);

}  // namespace jarvis::tools
