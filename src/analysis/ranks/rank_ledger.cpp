#include "analysis/ranks/rank_ledger.h"

#include "analysis/ranks/joint_collectives.h"

namespace jarvis::analysis {
namespace {

Cell MsCell(std::int64_t ns) {
  return static_cast<double>(ns) / 1e6;
}

}  // namespace

std::optional<ExposedSplit> SplitExposed(const RankSet& set, const JointTimeline& joint,
                                         std::size_t rank) {
  const auto& ledger = set.ranks[rank].ledger;
  if (!ledger || joint.collectives.empty()) return std::nullopt;
  IntervalSet<std::int64_t> exposed;
  for (const auto& piece : ledger->exposed) {
    const std::int64_t start = OnCommonClock(set, joint, rank, piece.start);
    exposed.push_back({start, start + (piece.end - piece.start)});
  }
  const CommSets& sets = joint.sets[rank];
  ExposedSplit split;
  split.wait_ns = Length(Intersect(exposed, sets.wait));
  split.bubble_ns = Length(Intersect(exposed, sets.bubble));
  split.unmatched_ns = Length(Intersect(exposed, sets.unmatched));
  split.transfer_ns = ledger->exposed_ns() - split.wait_ns - split.bubble_ns - split.unmatched_ns;
  return split;
}

Table RankLedgers(const RankSet& set, const JointTimeline& joint) {
  Table table{"ledger",
              {"rank",
               "unit",
               "units",
               "unit (ms)",
               "base (ms)",
               "GPU busy (ms)",
               "computation (ms)",
               "exposed communication (ms)",
               "of it waiting (ms)",
               "of it pipeline bubble (ms)",
               "of it transfer (ms)",
               "of it unmatched (ms)",
               "exposed copies (ms)",
               "idle by the host (ms)",
               "idle, host not scheduled or blocked (ms)",
               "idle otherwise (ms)",
               "unrecorded GPU work (ms)",
               "host alone (ms)",
               "one-time work (ms)",
               "unrecorded time (ms)",
               "left out (ms)",
               "bound"},
              {}};
  for (std::size_t rank = 0; rank < set.ranks.size(); ++rank) {
    const auto& of = set.ranks[rank].ledger;
    if (!of) continue;
    const auto split = SplitExposed(set, joint, rank);
    const auto part = [&](std::int64_t ExposedSplit::*which) {
      return split ? MsCell((*split).*which) : Cell();
    };
    table.rows.push_back({*set.ranks[rank].rank,
                          of->unit,
                          of->count,
                          MsCell(of->unit_ns()),
                          MsCell(of->base_ns),
                          MsCell(of->busy_ns),
                          MsCell(of->compute_ns),
                          MsCell(of->exposed_ns()),
                          part(&ExposedSplit::wait_ns),
                          part(&ExposedSplit::bubble_ns),
                          part(&ExposedSplit::transfer_ns),
                          part(&ExposedSplit::unmatched_ns),
                          MsCell(of->copy_ns),
                          MsCell(of->idle_host_ns),
                          MsCell(of->not_scheduled_ns),
                          MsCell(of->idle_other_ns),
                          MsCell(of->foreign_ns),
                          MsCell(of->host_alone_ns),
                          MsCell(of->one_time_ns),
                          MsCell(of->unrecorded_ns),
                          MsCell(of->left_out_ns),
                          of->bound});
  }
  return table;
}

}  // namespace jarvis::analysis
