// Which ranks of a job there are: digests in, each rank once, and what was wrong with them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/ranks/rank_digest.h"

namespace jarvis::analysis {

// Something about the inputs that a reader of the tables must know.
struct RankWarning {
  std::string code;  // RANK_CONFLICT, RANK_MISSING...; stable
  std::string text;  // one sentence
};

struct RankSet {
  std::vector<RankDigest> ranks;           // by rank; each digest's `rank` is there
  std::optional<std::int64_t> world_size;  // absent: no trace says
  std::vector<std::int64_t> missing;       // ranks of the world without a digest, ascending
  std::vector<RankWarning> warnings;
};

// The rank and the size of the world are those that the traces say; a rank that a trace does not
// say is taken from its file's name, else from its place, with a warning. Of two digests of one
// rank the whole one, then the first, is kept. `digests`: in the order in which files were given.
RankSet ResolveRanks(std::vector<RankDigest> digests);

// "0-3, 7".
std::string RankList(const std::vector<std::int64_t>& ranks);

}  // namespace jarvis::analysis
