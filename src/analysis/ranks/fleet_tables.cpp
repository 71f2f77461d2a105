#include "analysis/ranks/fleet_tables.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/ranks/collective_sizes.h"

namespace jarvis::analysis {
namespace {

Cell PercentCell(const std::optional<double>& share) {
  return share ? Cell(*share * 100) : Cell();
}

Cell CountCell(std::size_t count) {
  return static_cast<std::int64_t>(count);
}

Cell TextOrNothing(std::string_view text) {
  return text.empty() ? Cell() : Cell(std::string(text));
}

Table RanksOfFleet(const RankSet& set, const FleetFindings& fleet) {
  Table table{"fleet_ranks",
              {"rank", "host", "kind of work", "ranks of that work", "own time of a step (ms)",
               "over their median (%)", "robust deviations", "steps above", "steps compared",
               "collectives above", "collectives compared", "chance", "what takes longer", "slow"},
              {}};
  for (std::size_t rank = 0; rank < fleet.ranks.size(); ++rank) {
    const FleetRank& of = fleet.ranks[rank];
    const FleetClass& peers = fleet.classes[of.peers];
    const bool compared = of.excess && peers.excess;
    table.rows.push_back(
        {*set.ranks[rank].rank, of.host ? Cell(FleetHostName(fleet, *of.host)) : Cell(),
         CountCell(of.peers + 1), CountCell(peers.ranks.size()),
         of.own_ns ? Cell(*of.own_ns / 1e6) : Cell(), PercentCell(of.excess),
         compared ? Cell(of.score) : Cell(), CountCell(of.steps.above), CountCell(of.steps.count()),
         CountCell(of.calls.above), CountCell(of.calls.count()),
         compared ? Cell(of.chance) : Cell(), TextOrNothing(FleetCauseText(of.cause)),
         compared ? Cell(of.slow) : Cell()});
  }
  return table;
}

Table HostsOfFleet(const RankSet& set, const FleetFindings& fleet) {
  Table table{
      "fleet_hosts",
      {"host", "ranks", "over the median of like ranks (%)", "robust deviations", "ranks above",
       "ranks compared", "steps above", "steps compared", "chance", "what takes longer", "slow"},
      {}};
  for (std::size_t i = 0; i < fleet.hosts.size(); ++i) {
    const FleetHost& host = fleet.hosts[i];
    std::vector<std::int64_t> ranks;
    for (const std::size_t rank : host.ranks)
      ranks.push_back(*set.ranks[rank].rank);
    table.rows.push_back({FleetHostName(fleet, i), RankList(ranks), PercentCell(host.excess),
                          host.excess ? Cell(host.score) : Cell(), CountCell(host.ranks_above),
                          CountCell(host.compared), CountCell(host.steps.above),
                          CountCell(host.steps.count()), host.excess ? Cell(host.chance) : Cell(),
                          TextOrNothing(FleetCauseText(host.cause)),
                          host.excess ? Cell(host.slow) : Cell()});
  }
  return table;
}

Table GroupsOfFleet(const RankSet& set, const JointTimeline& joint, const FleetFindings& fleet) {
  Table table{"fleet_groups",
              {"group", "ranks", "hosts", "collective", "MB", "groups like it",
               "median transfer (ms)", "bus GB/s", "over the median group (%)", "robust deviations",
               "collectives above", "collectives compared", "chance", "slow"},
              {}};
  for (const FleetGroup& of : fleet.groups) {
    const CollectiveGroup& group = joint.identity.groups[of.group];
    std::vector<std::int64_t> ranks;
    for (const std::size_t rank : group.ranks)
      ranks.push_back(*set.ranks[rank].rank);
    const auto factor = BusFactor(of.family, static_cast<double>(ranks.size()));
    const bool timed = factor && of.transfer_ns > 0;
    table.rows.push_back(
        {TextOrNothing(group.name), RankList(ranks),
         of.hosts.empty() ? Cell() : CountCell(of.hosts.size()),
         std::string(of.hand_over ? std::string_view("send_recv") : CommFamilyName(of.family)),
         static_cast<double>(of.bytes) / 1e6, CountCell(of.alike), of.transfer_ns / 1e6,
         timed ? Cell(*factor * static_cast<double>(of.bytes) / of.transfer_ns) : Cell(),
         of.excess * 100, of.score, CountCell(of.calls.above), CountCell(of.calls.count()),
         of.calls.Chance(), of.slow});
  }
  return table;
}

Table StepsOfFleet(const RankSet& set, const FleetFindings& fleet) {
  Table table{"fleet_steps",
              {"place", "step", "ranks", "median length (ms)", "median own time (ms)",
               "median exposed communication (ms)", "over the median step (%)", "robust deviations",
               "odd", "slowest rank", "its own time over like ranks (%)"},
              {}};
  for (const FleetStep& step : fleet.steps) {
    table.rows.push_back({CountCell(table.rows.size() + 1), step.number, CountCell(step.ranks),
                          step.dur_ns / 1e6, step.own_ns / 1e6, step.exposed_ns / 1e6,
                          step.excess * 100, step.score, step.odd, *set.ranks[step.slowest].rank,
                          step.slowest_excess * 100});
  }
  return table;
}

// What ranks list of their GPU work, by name: the same kernel on all that have it.
Table KernelsOfFleet(const RankSet& set) {
  struct OfRanks {
    std::vector<double> ms;
    std::vector<double> counts;
    double most_ms = 0;
    std::size_t most = 0;  // the place of the rank with that
  };
  std::map<std::string_view, OfRanks> by_name;
  const auto add = [&](std::string_view name, const RankKernel& kernel, std::size_t rank) {
    OfRanks& of = by_name[name];
    const double ms = static_cast<double>(kernel.total_ns) / 1e6;
    if (of.ms.empty() || ms > of.most_ms) {
      of.most = rank;
      of.most_ms = ms;
    }
    of.ms.push_back(ms);
    of.counts.push_back(static_cast<double>(kernel.count));
  };
  for (std::size_t rank = 0; rank < set.ranks.size(); ++rank) {
    const auto& kernels = set.ranks[rank].kernels;
    if (!kernels) continue;
    for (const RankKernel& kernel : kernels->list)
      add(kernel.name, kernel, rank);
    if (kernels->rest.count > 0) add("(what ranks do not list)", kernels->rest, rank);
  }
  std::vector<std::pair<double, std::vector<Cell>>> rows;
  for (const auto& [name, of] : by_name) {
    const double median = FleetMedian(of.ms);
    const double least = *std::min_element(of.ms.begin(), of.ms.end());
    rows.emplace_back(median, std::vector<Cell>{std::string(name), CountCell(of.ms.size()),
                                                FleetMedian(of.counts), median, least, of.most_ms,
                                                *set.ranks[of.most].rank});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  Table table{"fleet_kernels",
              {"kernel", "ranks", "median count", "median of ranks (ms)", "least (ms)", "most (ms)",
               "rank with most"},
              {}};
  for (auto& [median, cells] : rows)
    table.rows.push_back(std::move(cells));
  return table;
}

}  // namespace

std::string_view FleetCauseText(FleetCause cause) {
  switch (cause) {
    case FleetCause::kUnknown: return "";
    case FleetCause::kGpu: return "more computing";
    case FleetCause::kHost: return "more idle time";
    case FleetCause::kBoth: return "more of both";
  }
  return "";
}

std::string FleetHostName(const FleetFindings& fleet, std::size_t host) {
  const std::string& name = fleet.hosts[host].name;
  return fleet.hosts_by == FleetHostsBy::kNames ? name : "host " + name;
}

std::vector<Table> FleetTables(const RankSet& set, const JointTimeline& joint,
                               const FleetFindings& fleet) {
  std::vector<Table> tables;
  const auto add = [&](Table table) {
    if (!table.rows.empty()) tables.push_back(std::move(table));
  };
  add(RanksOfFleet(set, fleet));
  add(HostsOfFleet(set, fleet));
  add(GroupsOfFleet(set, joint, fleet));
  add(StepsOfFleet(set, fleet));
  add(KernelsOfFleet(set));
  return tables;
}

}  // namespace jarvis::analysis
