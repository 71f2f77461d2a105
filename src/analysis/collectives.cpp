#include "analysis/collectives.h"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/collective_kernel.h"
#include "analysis/stats.h"

namespace jarvis::analysis {
namespace {

struct Collective {
  EventIndex kernel;
  CollectiveKeys keys;
};

std::vector<Collective> FindCollectives(const TableInput& input) {
  std::vector<Collective> found;
  for (const KernelPlace& place : input.attribution.places) {
    const EventIndex e = place.kernel;
    if (input.events[e].kind != trace::EventKind::kKernel) continue;
    if (!IsCollectiveName(input.events.name(e))) continue;
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

Table CollAnalysis(const TableInput& input, std::optional<std::int64_t> rank) {
  const CollectiveRules& rules = input.rules.collectives;
  std::vector<Collective> found = FindCollectives(input);
  if (rules.name_missing_groups) NameMissingGroups(&found);
  std::map<CollectiveKeys, std::vector<std::size_t>> groups;  // by key, as rows stand
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& keys = found[i].keys;
    if (input.rules.drop_null_keys && std::find(keys.begin(), keys.end(), Cell()) != keys.end())
      continue;
    groups[keys].push_back(i);
  }
  if (rules.rank) rank = rules.rank;
  Table table{"coll_analysis", {"rank"}, {}};
  table.columns.insert(table.columns.end(), kCollectiveKeyNames.begin(), kCollectiveKeyNames.end());
  table.columns.insert(table.columns.end(), {"In msg size (MB)_first", "Out msg size (MB)_first"});
  const std::size_t sum_column = table.columns.size();
  table.columns.insert(table.columns.end(),
                       {"dur_sum", "dur_mean", "dur_std", "dur_min", "dur_max", "operation_count"});
  std::vector<std::vector<Cell>> rows;
  std::vector<double> sums;
  for (const auto& [keys, members] : groups) {
    std::vector<double> durations;
    for (const std::size_t i : members)
      durations.push_back(DurationUs(input.events, found[i].kernel, input.rules.clock));
    const Moments moments = GroupMoments(durations);
    std::vector<Cell> cells = {rank ? Cell(*rank) : Cell()};
    cells.insert(cells.end(), keys.begin(), keys.end());
    cells.push_back(CellOf(MegabytesOf(found[members[0]].keys, kIn, rules)));
    cells.push_back(CellOf(MegabytesOf(found[members[0]].keys, kOut, rules)));
    cells.insert(cells.end(), {moments.sum, moments.mean, CellOf(moments.std), moments.min,
                               moments.max, static_cast<std::int64_t>(members.size())});
    sums.push_back(std::get<double>(cells[sum_column]));
    rows.push_back(std::move(cells));
  }
  for (const std::size_t row : input.rules.descending(sums))
    table.rows.push_back(std::move(rows[row]));
  return table;
}

}  // namespace jarvis::analysis
