#include "analysis/ranks/collective_sync.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "analysis/attribution/stats.h"

namespace jarvis::analysis {
namespace {

bool Waits(const MatchedCollective& collective, bool simplified) {
  // A send without its receive, or the reverse, says nothing.
  if (collective.point_to_point) return collective.calls.size() > 1;
  if (simplified && collective.type == CollectiveType::kOther) return true;
  return !collective.named || (collective.type != CollectiveType::kOther &&
                               collective.type != CollectiveType::kAllToAllV);
}

void AddBandwidth(const RankCall& first, const TableRules& rules, SyncedCollective* made) {
  const CollectiveType type = made->collective->type;
  made->full_mb =
      MegabytesOf(first.keys(), type == CollectiveType::kAllGather ? kOut : kIn, rules.collectives);
  const bool other = type == CollectiveType::kOther && !made->collective->point_to_point;
  if (!made->full_mb || other || !(made->latency > 0)) return;
  made->algorithm_gb_s = *made->full_mb / 1024 / (made->latency / 1e6);
  if (made->collective->point_to_point) made->bus_gb_s = made->algorithm_gb_s;
  if (made->collective->point_to_point) return;
  const auto size = RecordedNumber(first.keys()[kGroupSize]);
  if (!size || !(*size > 0)) return;
  const double factor = (type == CollectiveType::kAllReduce ? 2 : 1) * (*size - 1) / *size;
  made->bus_gb_s = *made->algorithm_gb_s * factor;
}

SyncedCollective MeasureSync(const MatchedCollective& collective, const Matching& matching,
                             const TableRules& rules) {
  SyncedCollective made;
  made.collective = &collective;
  const auto call_of = [&](std::size_t i) -> const RankCall& { return matching.calls[i]; };
  const CallTime& one = call_of(collective.calls.front()).time;
  double last_start = one.start;
  double first_end = one.end;
  double last_end = one.end;
  made.latency = one.dur;
  for (const std::size_t i : collective.calls) {
    const CallTime& time = call_of(i).time;
    last_start = std::max(last_start, time.start);
    first_end = std::min(first_end, time.end);
    last_end = std::max(last_end, time.end);
    made.latency = std::min(made.latency, time.dur);
  }
  std::vector<double> waits;
  double least = 0;
  for (const std::size_t i : collective.calls) {
    const double wait = last_start - call_of(i).time.start;
    if (wait >= made.start_skew) {
      made.start_skew = wait;
      made.earliest = call_of(i).rank;
    }
    if (waits.empty() || wait < least) {
      least = wait;
      made.last = call_of(i).rank;
    }
    waits.push_back(wait);
    made.ranks.push_back({i, wait});
  }
  made.mean_wait = PairwiseSum(waits) / static_cast<double>(waits.size());
  made.end_skew = last_end - first_end;
  if (collective.point_to_point && last_start >= first_end) {
    // The receiver copied from a buffer what the sender had given away: the send is the transfer.
    for (const std::size_t i : collective.calls) {
      if (call_of(i).time.end == first_end) made.latency = call_of(i).time.dur;
    }
    made.mean_wait = 0;
    for (auto& rank : made.ranks)
      rank.wait = 0;
  }
  AddBandwidth(call_of(collective.calls.front()), rules, &made);
  return made;
}

// Share of the calls' time that the same ranks computed in.
Cell CoveredPercent(const Matching& matching, const SyncedCollective& one) {
  double covered = 0;
  double whole = 0;
  for (const auto& rank : one.ranks) {
    const CollectiveCall& call = *matching.calls[rank.call].call;
    covered += static_cast<double>(call.covered_ns);
    whole += static_cast<double>(call.dur_ns);
  }
  return whole > 0 ? Cell(covered / whole * 100) : Cell();
}

void AddRankColumns(const RankSet& set, const Matching& matching,
                    const std::vector<SyncedCollective>& synced, Table* table) {
  for (const RankDigest& digest : set.ranks) {
    table->columns.push_back(fmt::format("rank_{}_ts", *digest.rank));
    table->columns.push_back(fmt::format("rank_{}_dur", *digest.rank));
  }
  for (const RankDigest& digest : set.ranks)
    table->columns.push_back(fmt::format("rank_{}_wait_time", *digest.rank));
  const std::size_t ranks = set.ranks.size();
  for (std::size_t row = 0; row < synced.size(); ++row) {
    std::vector<Cell> cells(3 * ranks);
    for (const auto& rank : synced[row].ranks) {
      const RankCall& call = matching.calls[rank.call];
      cells[2 * call.rank] = call.time.shown_start;
      cells[2 * call.rank + 1] = call.time.dur;
      cells[2 * ranks + call.rank] = rank.wait;
    }
    table->rows[row].insert(table->rows[row].end(), cells.begin(), cells.end());
  }
}

double Tenths(double value) {
  return std::rint(value * 10) / 10;
}

}  // namespace

std::vector<SyncedCollective> FindSynced(const Matching& matching, const TableRules& rules) {
  std::vector<SyncedCollective> synced;
  for (const MatchedCollective& collective : matching.collectives) {
    if (Waits(collective, matching.simplified))
      synced.push_back(MeasureSync(collective, matching, rules));
  }
  return synced;
}

Table NcclImplicitSync(const RankSet& set, const Matching& matching,
                       const std::vector<SyncedCollective>& synced, bool rank_columns,
                       const TableRules& rules) {
  Table table{"nccl_implicit_sync",
              {"collective_id", "Process Group Name", "Process Group Ranks", "Collective name",
               "Group size", "dtype", "In msg nelems", "Out msg nelems", "In msg size (MB)",
               "Out msg size (MB)", "Full msg size (MB)", "comm_latency", "skew in start time",
               "earliest arrival rank", "avg_wait_time", "skew in end time", "algo bw (GB/s)",
               "bus bw (GB/s)"},
              {}};
  const bool own = rules.collectives.own_columns;
  if (own) {
    table.columns.insert(table.columns.end(), {"ranks present", "complete", "ranks agree",
                                               "covered by computation (%)"});
  }
  for (const SyncedCollective& one : synced) {
    const CollectiveKeys& keys = matching.calls[one.ranks.front().call].keys();
    std::vector<Cell> row = {one.collective->id, keys[kGroup], keys[kRanks], keys[kCollective],
                             keys[kGroupSize],   keys[kDtype], keys[kIn],    keys[kOut]};
    row.push_back(CellOf(MegabytesOf(keys, kIn, rules.collectives)));
    row.push_back(CellOf(MegabytesOf(keys, kOut, rules.collectives)));
    row.push_back(CellOf(one.full_mb));
    row.insert(row.end(), {one.latency, one.start_skew, *set.ranks[one.earliest].rank,
                           one.mean_wait, one.end_skew});
    row.push_back(CellOf(one.algorithm_gb_s));
    row.push_back(CellOf(one.bus_gb_s));
    if (own) {
      const auto present = static_cast<std::int64_t>(one.ranks.size());
      const auto size = RecordedNumber(keys[kGroupSize]);
      row.push_back(present);
      row.push_back(one.collective->point_to_point ? Cell(true)
                    : size                         ? Cell(static_cast<double>(present) >= *size)
                                                   : Cell());
      row.push_back(one.collective->agree);
      row.push_back(CoveredPercent(matching, one));
    }
    table.rows.push_back(std::move(row));
  }
  if (rank_columns) AddRankColumns(set, matching, synced, &table);
  return table;
}

Table StragglerSummary(const RankSet& set, const Matching& matching,
                       const std::vector<SyncedCollective>& synced, const TableRules& rules) {
  Table table{"straggler_summary",
              {"rank", "total_wait_time_us", "mean_wait_time_us", "times_arrived_last",
               "times_arrived_first", "pct_arrived_last", "num_collectives", "total_nccl_dur_us"},
              {}};
  if (synced.empty()) return table;
  struct Sums {
    std::vector<double> waits;
    std::int64_t last = 0;
    std::int64_t first = 0;
    double dur = 0;
  };
  std::vector<Sums> sums(set.ranks.size());
  for (const SyncedCollective& one : synced) {
    // A stage of a pipeline that waits for the one before is no straggler's doing.
    if (one.collective->point_to_point) continue;
    for (const auto& rank : one.ranks)
      sums[matching.calls[rank.call].rank].waits.push_back(rank.wait);
    ++sums[one.last].last;
    ++sums[one.earliest].first;
  }
  for (const RankCall& call : matching.calls)
    sums[call.rank].dur += call.time.dur;
  const auto shown = [&](double value) { return rules.collectives.tenths ? Tenths(value) : value; };
  std::vector<std::pair<double, std::vector<Cell>>> rows;
  for (std::size_t rank = 0; rank < sums.size(); ++rank) {
    const Sums& of = sums[rank];
    const auto count = static_cast<double>(of.waits.size());
    const double total = PairwiseSum(of.waits);
    const bool any = !of.waits.empty();
    rows.push_back(
        {total,
         {*set.ranks[rank].rank, shown(total), any ? Cell(shown(total / count)) : Cell(), of.last,
          of.first, any ? Cell(shown(100 * static_cast<double>(of.last) / count)) : Cell(),
          static_cast<std::int64_t>(of.waits.size()), shown(of.dur)}});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [total, cells] : rows)
    table.rows.push_back(std::move(cells));
  return table;
}

}  // namespace jarvis::analysis
