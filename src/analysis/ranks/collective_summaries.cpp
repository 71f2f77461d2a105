#include "analysis/ranks/collective_summaries.h"

#include <algorithm>
#include <map>

#include "analysis/attribution/stats.h"
#include "analysis/ranks/collective_aggregate.h"
#include "analysis/ranks/collective_report.h"
#include "analysis/ranks/collective_sync.h"
#include "analysis/tables/collectives.h"

namespace jarvis::analysis {
namespace {

const char* KnownByText(KnownBy known_by) {
  switch (known_by) {
    case KnownBy::kKernelArgs: return "kernel args";
    case KnownBy::kParamComms: return "record_param_comms";
    case KnownBy::kKernelName: return "kernel name";
  }
  return "";
}

// Of a group without a value: as the reference writes it in its keys.
Cell OrUnknown(const Cell& cell) {
  return cell == Cell() ? Cell(std::string("Unknown")) : cell;
}

}  // namespace

Table NcclLong(const RankSet& set, const Matching& matching, const TableRules& rules,
               std::size_t first, std::size_t end) {
  Table table{"nccl_long",
              {"collective_id", "index_in_group", "rank", "Process Group Name",
               "Process Group Ranks", "Collective name", "Group size", "dtype", "In msg nelems",
               "In msg size (MB)", "Out msg nelems", "Out msg size (MB)", "In split size",
               "Out split size", "stream", "ts", "dur"},
              {}};
  const bool own = rules.collectives.own_columns;
  if (own) table.columns.insert(table.columns.end(), {"covered by computation", "known by"});
  table.rows.reserve(end - first);
  for (std::size_t i = first; i < end; ++i) {
    const RankCall& call = matching.calls[i];
    const CollectiveKeys& keys = call.keys();
    std::vector<Cell> row = {call.id,
                             call.index,
                             *set.ranks[call.rank].rank,
                             keys[kGroup],
                             keys[kRanks],
                             keys[kCollective],
                             keys[kGroupSize],
                             keys[kDtype],
                             keys[kIn],
                             CellOf(MegabytesOf(keys, kIn, rules.collectives)),
                             keys[kOut],
                             CellOf(MegabytesOf(keys, kOut, rules.collectives)),
                             keys[kInSplit],
                             keys[kOutSplit],
                             keys[kStream],
                             call.time.shown_start,
                             call.time.dur};
    if (own) {
      row.push_back(trace::MicrosOf(call.call->covered_ns));
      row.push_back(std::string(KnownByText(call.kind->known_by)));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table NcclSummaryLong(const RankSet& set, const Matching& matching, const TableRules& rules) {
  std::vector<CollectiveSample> samples;
  samples.reserve(matching.calls.size());
  for (const RankCall& call : matching.calls)
    samples.push_back({*set.ranks[call.rank].rank, call.shared_keys, call.time.dur});
  return SummariseCollectives("nccl_summary_long", samples, rules);
}

Table NcclSummaryImplicitSync(const Matching& matching, const std::vector<SyncedCollective>& synced,
                              const CollectiveReportOptions& options, const TableRules& rules) {
  const bool split_groups = rules.collectives.split_groups;
  std::map<std::vector<Cell>, std::vector<const SyncedCollective*>> groups;
  for (const SyncedCollective& one : synced) {
    const CollectiveKeys& keys = matching.calls[one.ranks.front().call].keys();
    std::vector<Cell> key = {OrUnknown(keys[kCollective]), OrUnknown(keys[kDtype]),
                             OrUnknown(keys[kIn])};
    if (split_groups) key.insert(key.end(), {keys[kGroup], keys[kRanks]});
    groups[key].push_back(&one);
  }
  Table table{"nccl_summary_implicit_sync",
              {"Collective name", "dtype", "In msg nelems", "Process Group Name"},
              {}};
  if (split_groups) table.columns.emplace_back("Process Group Ranks");
  table.columns.insert(table.columns.end(), {"Group size", "Full msg size (MB)"});
  using Value = std::optional<double> (*)(const SyncedCollective&);
  struct Metric {
    const char* name;
    Value value;
  };
  const Metric metrics[] = {
      {"comm_latency", [](const SyncedCollective& s) { return std::optional(s.latency); }},
      {"skew in start time", [](const SyncedCollective& s) { return s.start_skew; }},
      {"skew in end time", [](const SyncedCollective& s) { return s.end_skew; }},
      {"algo bw (GB/s)", [](const SyncedCollective& s) { return s.algorithm_gb_s; }},
      {"bus bw (GB/s)", [](const SyncedCollective& s) { return s.bus_gb_s; }}};
  std::vector<const Metric*> present;
  for (const Metric& metric : metrics) {
    const bool any =
        std::any_of(synced.begin(), synced.end(), [&](const auto& s) { return metric.value(s); });
    if (!any && !synced.empty()) continue;
    present.push_back(&metric);
    AddAggregateColumns(metric.name, options.aggregations, &table.columns);
  }
  table.columns.insert(table.columns.end(), {"count", "Total comm latency (ms)"});
  std::vector<double> totals;
  std::vector<std::vector<Cell>> rows;
  for (const auto& [key, members] : groups) {
    const SyncedCollective& first = *members.front();
    const CollectiveKeys& keys = matching.calls[first.ranks.front().call].keys();
    std::vector<Cell> row = {key[0], key[1], key[2], keys[kGroup]};
    if (split_groups) row.push_back(keys[kRanks]);
    row.insert(row.end(), {keys[kGroupSize], CellOf(first.full_mb)});
    for (const Metric* metric : present) {
      std::vector<std::optional<double>> values;
      for (const SyncedCollective* one : members)
        values.push_back(metric->value(*one));
      AddAggregates(values, options.aggregations, &row);
    }
    std::vector<double> latencies;
    for (const SyncedCollective* one : members)
      latencies.push_back(one->latency);
    totals.push_back(KahanSum(latencies) / 1000);
    row.push_back(static_cast<std::int64_t>(members.size()));
    row.push_back(totals.back());
    rows.push_back(std::move(row));
  }
  for (const std::size_t row : rules.descending(totals))
    table.rows.push_back(std::move(rows[row]));
  return table;
}

Table RankSummary(const RankSet& set, const JointTimeline& joint) {
  Table table{"rank_summary",
              {"rank", "file", "device", "complete", "collectives", "matched", "communication (ms)",
               "covered by computation (%)", "wait in collectives (ms)",
               "transfer in collectives (ms)", "pipeline bubble (ms)", "unmatched (ms)"},
              {}};
  for (std::size_t rank = 0; rank < set.ranks.size(); ++rank) {
    const RankDigest& digest = set.ranks[rank];
    const RankCommTime& time = joint.ranks[rank];
    double covered = 0;
    double whole = 0;
    for (const CollectiveCall& call : digest.calls) {
      if (call.left_out) continue;
      covered += static_cast<double>(call.covered_ns);
      whole += static_cast<double>(call.dur_ns);
    }
    const auto ms = [](std::int64_t ns) { return Cell(static_cast<double>(ns) / 1e6); };
    table.rows.push_back(
        {*digest.rank, digest.source, digest.device.empty() ? Cell() : Cell(digest.device),
         digest.damage.empty(), time.matched + time.unmatched, time.matched, ms(time.comm_ns),
         whole > 0 ? Cell(covered / whole * 100) : Cell(), ms(time.wait_ns), ms(time.transfer_ns),
         ms(time.bubble_ns), ms(time.unmatched_ns)});
  }
  return table;
}

}  // namespace jarvis::analysis
