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
    // From its start to the last rank's; absent: not all ranks that must meet have it.
    std::optional<double> wait;
  };
  const MatchedCollective* collective = nullptr;
  std::vector<Rank> ranks;        // by rank
  std::optional<double> full_mb;  // what the collective moves
  double latency = 0;             // the shortest call: it waited for nobody
  // Absent as waits are.
  std::optional<double> start_skew;     // last start - first start
  std::optional<double> end_skew;       // last end - first end
  std::optional<std::size_t> earliest;  // RankSet::ranks; of several the highest
  std::optional<std::size_t> last;      // ... that came last; of several the lowest
  // The last did so by more than the clocks may be wrong; by the rule of the reference always.
  bool came_late = false;
  std::optional<double> mean_wait;
  std::optional<double> algorithm_gb_s;
  std::optional<double> bus_gb_s;
};
// `by_order`: by the rule of the reference; else as the timeline of all ranks has it.
std::vector<SyncedCollective> FindSynced(const Matching& matching, bool by_order,
                                         const TableRules& rules);

// `rank_columns`: with three columns for each rank.
Table NcclImplicitSync(const RankSet& set, const Matching& matching,
                       const std::vector<SyncedCollective>& synced, bool rank_columns,
                       const TableRules& rules);
// straggler_summary: one row per rank, with how long it waited and how often it came last. `joint`:
// null for the rule of the reference.
Table StragglerSummary(const RankSet& set, const Matching& matching,
                       const std::vector<SyncedCollective>& synced, const JointTimeline* joint,
                       const TableRules& rules);

}  // namespace jarvis::analysis
