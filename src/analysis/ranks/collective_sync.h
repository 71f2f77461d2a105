// Collectives in which all ranks wait for the last: nccl_implicit_sync and what is made from it.
//
// Times are microseconds; MB and GB are 1024 * 1024 and 1024 * 1024 * 1024 bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "analysis/ranks/collective_match.h"
#include "table/table.h"

namespace jarvis::analysis {

// One collective that every rank of its group waits in.
struct SyncedCollective {
  struct Rank {
    std::size_t call = 0;  // Matching::calls
    double wait = 0;       // from its start to the last rank's
  };
  const MatchedCollective* collective = nullptr;
  std::vector<Rank> ranks;        // by rank
  std::optional<double> full_mb;  // what the collective moves
  double latency = 0;             // the shortest call: it waited for nobody
  double start_skew = 0;          // last start - first start
  double end_skew = 0;            // last end - first end
  std::size_t earliest = 0;       // RankSet::ranks; of several the highest
  std::size_t last = 0;           // ... that came last; of several the lowest
  double mean_wait = 0;
  std::optional<double> algorithm_gb_s;
  std::optional<double> bus_gb_s;
};
std::vector<SyncedCollective> FindSynced(const Matching& matching, const TableRules& rules);

// `rank_columns`: with three columns for each rank.
Table NcclImplicitSync(const RankSet& set, const Matching& matching,
                       const std::vector<SyncedCollective>& synced, bool rank_columns,
                       const TableRules& rules);
// straggler_summary: one row per rank, with how long it waited and how often it came last.
Table StragglerSummary(const RankSet& set, const Matching& matching,
                       const std::vector<SyncedCollective>& synced, const TableRules& rules);

}  // namespace jarvis::analysis
