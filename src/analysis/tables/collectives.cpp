#include "analysis/tables/collectives.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "analysis/attribution/collective_kernel.h"
#include "analysis/attribution/stats.h"

namespace jarvis::analysis {
namespace {

struct Collective {
  EventIndex kernel;
  CollectiveKeys keys;
};

std::vector<Collective> FindCollectives(const TableInput& input) {
  std::vector<Collective> found;
  std::unordered_map<StringId, bool> communicates;  // by name
  for (const KernelPlace& place : input.attribution.places) {
    const EventIndex e = place.kernel;
    if (input.events[e].kind != trace::EventKind::kKernel) continue;
    const auto [known, added] = communicates.try_emplace(input.events[e].name, false);
    if (added) known->second = IsCollectiveName(input.events.name(e));
    if (!known->second) continue;
    Collective collective{e, RecordedCollective(input.events, e)};
    Cell& name = collective.keys[kCollective];
    if (name == Cell()) {
      name = CollectiveOfKernel(input.events.name(e), input.rules.collectives.name_from_kernel);
    }
    found.push_back(std::move(collective));
  }
  return found;
}

void NameMissingGroups(std::vector<Collective>* found) {
  const bool none = std::all_of(found->begin(), found->end(),
                                [](const Collective& c) { return c.keys[kGroup] == Cell(); });
  std::set<Cell> streams;
  for (const Collective& collective : *found) {
    if (collective.keys[kStream] != Cell()) streams.insert(collective.keys[kStream]);
  }
  const char* name = none && streams.size() <= 1 ? "all" : "Unknown_Group";
  for (Collective& collective : *found) {
    if (collective.keys[kGroup] == Cell()) collective.keys[kGroup] = std::string(name);
  }
}

}  // namespace

Table SummariseCollectives(std::string name, const std::vector<CollectiveSample>& samples,
                           const TableRules& rules) {
  using Key = std::pair<Cell, CollectiveKeys>;
  std::map<Key, std::vector<double>> groups;  // durations by key, as rows stand
  // Many samples share their keys, which take long to compare.
  std::unordered_map<const CollectiveKeys*, std::vector<double>*> known;
  for (const CollectiveSample& sample : samples) {
    const CollectiveKeys& keys = *sample.keys;
    const auto [found, added] = known.try_emplace(sample.keys, nullptr);
    if (added) {
      const bool dropped =
          rules.drop_null_keys && std::find(keys.begin(), keys.end(), Cell()) != keys.end();
      if (!dropped) found->second = &groups[{sample.rank, keys}];
    }
    if (found->second != nullptr) found->second->push_back(sample.dur_us);
  }
  Table table{std::move(name), {"rank"}, {}};
  table.columns.insert(table.columns.end(), kCollectiveKeyNames.begin(), kCollectiveKeyNames.end());
  table.columns.insert(table.columns.end(),
                       {"In msg size (MB)_first", "Out msg size (MB)_first", "dur_sum", "dur_mean",
                        "dur_std", "dur_min", "dur_max", "operation_count"});
  std::vector<std::vector<Cell>> rows;
  std::vector<double> sums;
  for (const auto& [key, durations] : groups) {
    const auto& [rank, keys] = key;
    const Moments moments = GroupMoments(durations);
    std::vector<Cell> cells = {rank};
    cells.insert(cells.end(), keys.begin(), keys.end());
    cells.push_back(CellOf(MegabytesOf(keys, kIn, rules.collectives)));
    cells.push_back(CellOf(MegabytesOf(keys, kOut, rules.collectives)));
    cells.insert(cells.end(), {moments.sum, moments.mean, CellOf(moments.std), moments.min,
                               moments.max, static_cast<std::int64_t>(durations.size())});
    sums.push_back(moments.sum);
    rows.push_back(std::move(cells));
  }
  for (const std::size_t row : rules.descending(sums))
    table.rows.push_back(std::move(rows[row]));
  return table;
}

Table CollAnalysis(const TableInput& input, std::optional<std::int64_t> rank) {
  const CollectiveRules& rules = input.rules.collectives;
  std::vector<Collective> found = FindCollectives(input);
  if (rules.name_missing_groups) NameMissingGroups(&found);
  if (rules.rank) rank = rules.rank;
  std::vector<CollectiveSample> samples;
  for (const Collective& collective : found) {
    samples.push_back({rank ? Cell(*rank) : Cell(), &collective.keys,
                       DurationUs(input.events, collective.kernel, input.rules.clock)});
  }
  return SummariseCollectives("coll_analysis", samples, input.rules);
}

}  // namespace jarvis::analysis
