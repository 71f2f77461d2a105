#include "analysis/ranks/rank_set.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "analysis/ranks/collective_report.h"
#include "analysis/ranks/node_columns.h"

namespace jarvis::analysis {
namespace {

// More ranks than any job has: such a number is no size of a world.
constexpr std::int64_t kWorldMax = 1'000'000;

class Resolver {
 public:
  RankSet Run(std::vector<RankDigest> digests) {
    std::vector<RankDigest> nameless;
    for (RankDigest& digest : digests) {
      if (digest.rank && (*digest.rank < 0 || *digest.rank >= kWorldMax)) {
        Warn("RANK_CONFLICT", fmt::format("{}: its trace says rank {}, which cannot be",
                                          digest.source, *digest.rank));
        digest.rank.reset();
      }
      if (!digest.rank) {
        nameless.push_back(std::move(digest));
        continue;
      }
      if (digest.named_rank && digest.named_rank != digest.rank) {
        Warn("RANK_CONFLICT",
             fmt::format("{}: named after rank {}, but its trace says rank {}; the "
                         "trace is believed",
                         digest.source, *digest.named_rank, *digest.rank));
      }
      Add(std::move(digest));
    }
    for (RankDigest& digest : nameless)
      AddNameless(std::move(digest));
    for (auto& [rank, digest] : by_rank_)
      set_.ranks.push_back(std::move(digest));
    FindWorld();
    FindMissing();
    for (const RankDigest& digest : set_.ranks) {
      if (digest.mixed) {
        Warn("RANKS_MIXED",
             fmt::format("{} holds several processes, and nothing says whose its GPU work is: it "
                         "counts as one rank; give the traces of the ranks as they were recorded",
                         digest.source));
      }
      if (!digest.damage.empty()) {
        Warn("TRACE_TRUNCATED", fmt::format("{} (rank {}) is not whole: {}", digest.source,
                                            *digest.rank, digest.damage));
      }
    }
    return std::move(set_);
  }

 private:
  void Warn(const char* code, std::string text) {
    set_.warnings.push_back({code, std::move(text)});
  }

  void Add(RankDigest digest) {
    const std::int64_t rank = *digest.rank;
    const auto [found, added] = by_rank_.try_emplace(rank);
    RankDigest& kept = found->second;
    if (added) {
      kept = std::move(digest);
      return;
    }
    if (!kept.trace_id.empty() && kept.trace_id == digest.trace_id) {
      Warn("RANK_TWICE", fmt::format("{} is the same trace as {} (rank {}); it counts once",
                                     digest.source, kept.source, rank));
      return;
    }
    const auto worse = [](const RankDigest& a, const RankDigest& b) {
      return std::tuple(!a.timeline, !a.damage.empty()) >
             std::tuple(!b.timeline, !b.damage.empty());
    };
    if (worse(kept, digest)) std::swap(kept, digest);
    Warn("RANK_CONFLICT", fmt::format("{} and {} both say that they are rank {}; {} is left out",
                                      kept.source, digest.source, rank, digest.source));
  }

  void AddNameless(RankDigest digest) {
    const auto named = digest.named_rank;
    if (named && *named >= 0 && *named < kWorldMax && !by_rank_.contains(*named)) {
      Warn("RANK_ASSUMED",
           fmt::format(
               "{}: its trace does not say which rank it is; rank {} is assumed from its name",
               digest.source, *named));
      digest.rank = *named;
    } else {
      std::int64_t free = 0;
      while (by_rank_.contains(free))
        ++free;
      Warn("RANK_ASSUMED",
           fmt::format("{}: neither its trace nor its name says which rank it is; it "
                       "is counted as rank {}, by its place",
                       digest.source, free));
      digest.rank = free;
    }
    by_rank_.emplace(*digest.rank, std::move(digest));
  }

  // The size that most traces say, the larger of two.
  void FindWorld() {
    std::map<std::int64_t, std::size_t> votes;
    for (const RankDigest& digest : set_.ranks) {
      if (digest.world_size && *digest.world_size > 0 && *digest.world_size <= kWorldMax)
        ++votes[*digest.world_size];
    }
    if (votes.empty()) {
      if (!set_.ranks.empty()) WorldOfGroups();
      return;
    }
    auto best = votes.begin();
    for (auto vote = votes.begin(); vote != votes.end(); ++vote) {
      if (vote->second >= best->second) best = vote;
    }
    set_.world_size = best->first;
    for (const RankDigest& digest : set_.ranks) {
      if (digest.world_size && *digest.world_size != best->first) {
        Warn("WORLD_SIZE_MISMATCH",
             fmt::format("{} (rank {}) says that the world has {} ranks, most say {}",
                         digest.source, *digest.rank, *digest.world_size, best->first));
      }
      if (*digest.rank >= best->first) {
        Warn("WORLD_SIZE_MISMATCH", fmt::format("{} says that it is rank {} of a world of {}",
                                                digest.source, *digest.rank, best->first));
      }
    }
  }

  // Where no trace says it: the ranks that groups list.
  void WorldOfGroups() {
    std::int64_t last = -1;
    for (const RankDigest& digest : set_.ranks) {
      for (const CollectiveKind& kind : digest.kinds) {
        const auto* text = std::get_if<std::string>(&kind.known[kRanks]);
        if (text == nullptr) continue;
        for (const std::int64_t rank : RanksIn(*text))
          last = std::max(last, rank);
      }
    }
    if (last >= kWorldMax || last < *set_.ranks.back().rank) return;
    set_.world_size = last + 1;
    Warn("WORLD_SIZE_ASSUMED",
         fmt::format("no trace says how many ranks there are; {} is the number that their process "
                     "groups speak of",
                     last + 1));
  }

  void FindMissing() {
    if (set_.ranks.empty()) return;
    const std::int64_t end = set_.world_size.value_or(*set_.ranks.back().rank + 1);
    auto next = set_.ranks.begin();
    for (std::int64_t rank = 0; rank < end; ++rank) {
      while (next != set_.ranks.end() && *next->rank < rank)
        ++next;
      if (next == set_.ranks.end() || *next->rank != rank) set_.missing.push_back(rank);
    }
    if (set_.missing.empty()) return;
    Warn("RANK_MISSING",
         fmt::format("no trace of rank {}: collectives are measured over the ranks that are there, "
                     "so latencies are upper bounds, skews and waits lower bounds",
                     RankList(set_.missing)));
  }

  RankSet set_;
  std::map<std::int64_t, RankDigest> by_rank_;
};

}  // namespace

RankSet ResolveRanks(std::vector<RankDigest> digests) {
  return Resolver().Run(std::move(digests));
}

std::string RankList(const std::vector<std::int64_t>& ranks) {
  constexpr int kRunsMax = 20;
  std::string text;
  int runs = 0;
  for (std::size_t i = 0; i < ranks.size(); ++runs) {
    if (runs == kRunsMax) return text + fmt::format(" and {} more", ranks.size() - i);
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1)
      ++last;
    if (!text.empty()) text += ", ";
    text += last == i ? fmt::format("{}", ranks[i]) : fmt::format("{}-{}", ranks[i], ranks[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace jarvis::analysis
