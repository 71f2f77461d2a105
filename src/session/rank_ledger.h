// What the books of a trace say of a rank: the figures that `analyze` of it alone gives.
#pragma once

#include <vector>

#include "analysis/ranks/rank_digest.h"
#include "base/job.h"
#include "base/result.h"

namespace jarvis::session {

class LoadedTrace;

// The digests of a trace's ranks (analysis::DigestTrace), with their ledgers and steps. Ranks whose
// processes nothing tells apart have none. Errors: kCancelled.
Result<std::vector<analysis::RankDigest>> DigestsOfTrace(const LoadedTrace& trace, Job& job);

}  // namespace jarvis::session
