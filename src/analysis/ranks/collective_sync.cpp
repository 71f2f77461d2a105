#include "analysis/ranks/collective_sync.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "analysis/attribution/stats.h"

namespace jarvis::analysis {
namespace {

// In the reference.
bool Waits(const MatchedCollective& collective, bool simplified) {
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

// The rule of the reference.
void MeasureByOrder(const Matching& matching, SyncedCollective* made) {
  double last_start = 0;
  double first_end = 0;
  double last_end = 0;
  for (const auto& rank : made->ranks) {
    const CallTime& time = matching.calls[rank.call].time;
    const bool first = &rank == &made->ranks.front();
    last_start = first ? time.start : std::max(last_start, time.start);
    first_end = first ? time.end : std::min(first_end, time.end);
    last_end = first ? time.end : std::max(last_end, time.end);
  }
  std::vector<double> waits;
  double least = 0;
  for (auto& rank : made->ranks) {
    const RankCall& call = matching.calls[rank.call];
    const double wait = last_start - call.time.start;
    if (wait >= made->start_skew.value_or(0)) {
      made->start_skew = wait;
      made->earliest = call.rank;
    }
    if (waits.empty() || wait < least) {
      least = wait;
      made->last = call.rank;
    }
    waits.push_back(wait);
    rank.wait = wait;
  }
  made->mean_wait = PairwiseSum(waits) / static_cast<double>(waits.size());
  made->end_skew = last_end - first_end;
}

// What the one timeline of all ranks says.
void TakeJoint(const JointCollective& joint, SyncedCollective* made) {
  std::int64_t first_end = joint.parts.front().end_ns;
  std::int64_t last_end = first_end;
  double sum = 0;
  for (std::size_t i = 0; i < joint.parts.size(); ++i) {
    const JointPart& part = joint.parts[i];
    first_end = std::min(first_end, part.end_ns);
    last_end = std::max(last_end, part.end_ns);
    made->ranks[i].wait = trace::MicrosOf(part.wait_ns);
    sum += *made->ranks[i].wait;
  }
  made->latency = trace::MicrosOf(joint.shortest_ns);
  made->start_skew = trace::MicrosOf(joint.skew_ns);
  made->end_skew = trace::MicrosOf(last_end - first_end);
  made->earliest = joint.parts[joint.first].rank;
  made->last = joint.parts[joint.last].rank;
  made->mean_wait = sum / static_cast<double>(joint.parts.size());
}

SyncedCollective MeasureSync(const MatchedCollective& collective, const Matching& matching,
                             bool by_order, const TableRules& rules) {
  SyncedCollective made;
  made.collective = &collective;
  made.latency = matching.calls[collective.calls.front()].time.dur;
  for (const std::size_t i : collective.calls) {
    made.latency = std::min(made.latency, matching.calls[i].time.dur);
    made.ranks.push_back({i, {}});
  }
  if (by_order) {
    MeasureByOrder(matching, &made);
    made.came_late = true;
  }
  if (collective.joint != nullptr) {
    TakeJoint(*collective.joint, &made);
    made.came_late = collective.came_late;
  }
  AddBandwidth(matching.calls[collective.calls.front()], rules, &made);
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
      cells[2 * ranks + call.rank] = CellOf(rank.wait);
    }
    table->rows[row].insert(table->rows[row].end(), cells.begin(), cells.end());
  }
}

Cell RankCell(const RankSet& set, const std::optional<std::size_t>& rank) {
  return rank ? Cell(*set.ranks[*rank].rank) : Cell();
}

double Tenths(double value) {
  return std::rint(value * 10) / 10;
}

}  // namespace

std::vector<SyncedCollective> FindSynced(const Matching& matching, bool by_order,
                                         const TableRules& rules) {
  std::vector<SyncedCollective> synced;
  for (const MatchedCollective& collective : matching.collectives) {
    // A send without its receive, or the reverse, says nothing.
    const bool lone = collective.point_to_point && collective.calls.size() < 2;
    if (by_order ? Waits(collective, matching.simplified) : !lone)
      synced.push_back(MeasureSync(collective, matching, by_order, rules));
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
                                               "covered by computation (%)", "last rank"});
  }
  for (const SyncedCollective& one : synced) {
    const CollectiveKeys& keys = matching.calls[one.ranks.front().call].keys();
    std::vector<Cell> row = {one.collective->id, keys[kGroup], keys[kRanks], keys[kCollective],
                             keys[kGroupSize],   keys[kDtype], keys[kIn],    keys[kOut]};
    row.push_back(CellOf(MegabytesOf(keys, kIn, rules.collectives)));
    row.push_back(CellOf(MegabytesOf(keys, kOut, rules.collectives)));
    row.push_back(CellOf(one.full_mb));
    row.insert(row.end(), {one.latency, CellOf(one.start_skew), RankCell(set, one.earliest),
                           CellOf(one.mean_wait), CellOf(one.end_skew)});
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
      row.push_back(one.came_late ? RankCell(set, one.last) : Cell());
    }
    table.rows.push_back(std::move(row));
  }
  if (rank_columns) AddRankColumns(set, matching, synced, &table);
  return table;
}

Table StragglerSummary(const RankSet& set, const Matching& matching,
                       const std::vector<SyncedCollective>& synced, const JointTimeline* joint,
                       const TableRules& rules) {
  Table table{"straggler_summary",
              {"rank", "total_wait_time_us", "mean_wait_time_us", "times_arrived_last",
               "times_arrived_first", "pct_arrived_last", "num_collectives", "total_nccl_dur_us"},
              {}};
  if (synced.empty()) return table;
  struct Sums {
    double wait = 0;
    std::int64_t met = 0;
    std::int64_t last = 0;
    std::int64_t first = 0;
    double dur = 0;
  };
  std::vector<Sums> sums(set.ranks.size());
  for (const RankCall& call : matching.calls)
    sums[call.rank].dur += call.time.dur;
  std::vector<std::vector<double>> waits(set.ranks.size());
  for (const SyncedCollective& one : synced) {
    if (joint != nullptr) break;
    for (const auto& rank : one.ranks)
      waits[matching.calls[rank.call].rank].push_back(*rank.wait);
    ++sums[*one.last].last;
    ++sums[*one.earliest].first;
  }
  for (std::size_t rank = 0; rank < sums.size(); ++rank) {
    Sums& of = sums[rank];
    of.wait = PairwiseSum(waits[rank]);
    of.met = static_cast<std::int64_t>(waits[rank].size());
    if (joint == nullptr) continue;
    // A stage of a pipeline that waits for the one before is no straggler's doing.
    const RankCommTime& time = joint->ranks[rank];
    of.wait = trace::MicrosOf(time.wait_ns);
    of.met = time.met;
    of.last = time.came_last;
    of.first = time.came_first;
  }
  const auto shown = [&](double value) { return rules.collectives.tenths ? Tenths(value) : value; };
  std::vector<std::pair<double, std::vector<Cell>>> rows;
  for (std::size_t rank = 0; rank < sums.size(); ++rank) {
    const Sums& of = sums[rank];
    const auto count = static_cast<double>(of.met);
    const bool any = of.met > 0;
    rows.push_back(
        {of.wait,
         {*set.ranks[rank].rank, shown(of.wait), any ? Cell(shown(of.wait / count)) : Cell(),
          of.last, of.first, any ? Cell(shown(100 * static_cast<double>(of.last) / count)) : Cell(),
          of.met, shown(of.dur)}});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [total, cells] : rows)
    table.rows.push_back(std::move(cells));
  return table;
}

}  // namespace jarvis::analysis
