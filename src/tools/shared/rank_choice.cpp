#include "tools/shared/rank_choice.h"

#include <algorithm>

#include "session/file_ranks.h"
#include "tools/shared/arguments.h"

namespace jarvis::tools {

Result<OneRank> OneRankOf(session::Workspace& workspace, const Json& arguments, Job& job,
                          std::optional<std::int64_t> like) {
  JV_ASSIGN(const session::Opened opened, OpenTraceFully(workspace, arguments, job));
  if (const auto& part = opened.trace->rank_part()) return OneRank{arguments, part->rank};
  const session::FileRanks found = session::RanksOf(*opened.trace);
  if (!found.several()) return OneRank{arguments, std::nullopt};
  const bool alike =
      like && std::find(found.ranks.begin(), found.ranks.end(), *like) != found.ranks.end();
  session::PartRequest part = opened.part;
  part.rank = alike ? like : session::RankThatBounds(session::WorkOfRanks(*opened.trace, found));
  JV_ASSIGN(const session::Opened rank, OpenTraceFully(workspace, arguments, job, part));
  OneRank one{arguments, part.rank};
  one.arguments["trace"] = rank.trace->id();
  return one;
}

}  // namespace jarvis::tools
