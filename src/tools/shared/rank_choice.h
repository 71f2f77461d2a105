// Which rank an analysis is about that was told none.
#pragma once

#include <cstdint>
#include <optional>

#include "base/job.h"
#include "json/json.h"
#include "session/workspace.h"

namespace jarvis::tools {

struct OneRank {
  Json arguments;                    // `trace` is the rank's
  std::optional<std::int64_t> rank;  // absent: the file is not several ranks
};

// Of a file with several ranks, `like` where it has that, else the one that bounds the job
// (session::RankThatBounds); of what is one rank already, that. Errors: those of OpenTrace.
Result<OneRank> OneRankOf(session::Workspace& workspace, const Json& arguments, Job& job,
                          std::optional<std::int64_t> like = {});

}  // namespace jarvis::tools
