#include "analysis/ranks/job_base.h"

#include <algorithm>
#include <vector>

namespace jarvis::analysis {

JobBase::JobBase(const RankSet& set, const JointTimeline& joint, std::size_t rank)
    : known_(std::all_of(set.ranks.begin(), set.ranks.end(),
                         [](const RankDigest& digest) {
                           return digest.facts && digest.ledger && !digest.ledger->base.empty();
                         })),
      rank_(rank) {
  if (!known_) return;
  for (const auto& piece : set.ranks[rank].ledger->base) {
    pieces_.push_back(
        {OnCommonClock(set, joint, rank, piece.start), OnCommonClock(set, joint, rank, piece.end)});
  }
}

JobEdges FindJobEdges(const RankSet& set, const JointTimeline& joint, std::int64_t wall_ns) {
  std::vector<std::int64_t> begins;
  std::vector<std::int64_t> ends;
  for (std::size_t rank = 0; rank < set.ranks.size(); ++rank) {
    const RankFacts& facts = *set.ranks[rank].facts;
    if (!facts.host_start_ns || !facts.gpu_end_ns) return {};
    const auto& ledger = set.ranks[rank].ledger;
    const bool base = ledger && !ledger->base.empty();
    begins.push_back(
        OnCommonClock(set, joint, rank, base ? ledger->base.front().start : *facts.host_start_ns));
    ends.push_back(
        OnCommonClock(set, joint, rank, base ? ledger->base.back().end : *facts.gpu_end_ns));
  }
  const auto [first, last] = std::minmax_element(begins.begin(), begins.end());
  const auto [early, late] = std::minmax_element(ends.begin(), ends.end());
  JobEdges edges;
  if (*last - *first < wall_ns) {
    edges.late_begin_ns = *last - *first;
    edges.late_begin_rank = static_cast<std::size_t>(last - begins.begin());
  }
  if (*late - *early < wall_ns) {
    edges.early_end_ns = *late - *early;
    edges.early_end_rank = static_cast<std::size_t>(early - ends.begin());
  }
  return edges;
}

std::size_t LongestBase(const RankSet& set) {
  std::size_t longest = 0;
  for (std::size_t rank = 1; rank < set.ranks.size(); ++rank) {
    const auto& own = set.ranks[rank].ledger;
    const auto& most = set.ranks[longest].ledger;
    if (own && (!most || own->base_ns > most->base_ns)) longest = rank;
  }
  return longest;
}

}  // namespace jarvis::analysis
