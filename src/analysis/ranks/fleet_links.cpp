#include "analysis/ranks/fleet_links.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/ranks/collective_sizes.h"

namespace jarvis::analysis {
namespace {

// Differences of transfers below this share are within what the libraries' choices do.
constexpr double kTransferNoise = 0.01;
// Fewer transfers say nothing of a link.
constexpr std::size_t kTransfersMin = 3;
// A host or a link is blamed if at least this share of the groups that use it is slow.
constexpr double kBlameShare = 0.9;
// In groups over more hosts no two of them are told apart.
constexpr std::size_t kPairHostsMax = 16;
constexpr std::size_t kLinksMax = 16;

// Groups that move the same between as many ranks on as many hosts.
using TransferKind = std::tuple<CommFamily, std::int64_t, std::size_t, std::size_t>;

class LinkFinder {
 public:
  LinkFinder(const RankSet& set, const JointTimeline& joint, FleetFindings* fleet)
      : set_(set), joint_(joint), fleet_(*fleet) {}

  void Run() {
    Collect();
    for (auto& [kind, groups] : alike_)
      Compare(kind, &groups);
    std::stable_sort(fleet_.groups.begin(), fleet_.groups.end(),
                     [](const FleetGroup& a, const FleetGroup& b) { return a.excess > b.excess; });
    Explain();
  }

 private:
  // A group's shortest calls: what its transfers take without waiting, whatever the clocks say.
  struct Transfers {
    std::size_t group = 0;
    bool hand_over = false;
    std::vector<std::size_t> hosts;
    std::vector<double> shortest;
  };

  const std::vector<std::size_t>& HostsOf(std::size_t group) {
    const auto [found, added] = hosts_of_.try_emplace(group);
    if (!added) return found->second;
    std::set<std::size_t> hosts;
    for (const std::size_t rank : joint_.identity.groups[group].ranks) {
      if (!fleet_.ranks[rank].host) return found->second;
      hosts.insert(*fleet_.ranks[rank].host);
    }
    found->second.assign(hosts.begin(), hosts.end());
    return found->second;
  }

  void Collect() {
    std::unordered_map<const CollectiveKind*, std::optional<std::int64_t>> sizes;
    std::map<std::tuple<TransferKind, std::size_t>, Transfers> found;
    for (const JointCollective& one : joint_.collectives) {
      const JointPart& first = one.parts.front();
      const RankDigest& digest = set_.ranks[first.rank];
      const CollectiveKind& kind = digest.kinds[digest.calls[first.call].kind];
      const auto [size, added] = sizes.try_emplace(&kind);
      const std::size_t ranks = joint_.identity.groups[one.group].ranks.size();
      // Hand-overs in longer rows are of two ranks, and nobody says which.
      if (added && !(ranks > 2 && IsHandOver(kind.known)))
        size->second = CollectiveBytes(kind.known);
      if (!size->second || *size->second == 0 || one.shortest_ns <= 0) continue;
      if (one.parts.size() != ranks) continue;
      const std::vector<std::size_t>& hosts = HostsOf(one.group);
      const TransferKind transfer{one.family, *size->second, ranks, hosts.size()};
      Transfers& of = found[{transfer, one.group}];
      of.group = one.group;
      of.hand_over = IsHandOver(kind.known);
      of.hosts = hosts;
      of.shortest.push_back(static_cast<double>(one.shortest_ns));
    }
    for (auto& [key, of] : found) {
      if (of.shortest.size() >= kTransfersMin) alike_[std::get<0>(key)].push_back(std::move(of));
    }
  }

  void Compare(const TransferKind& kind, std::vector<Transfers>* groups) {
    if (groups->size() < kFleetPeersMin) return;
    std::vector<double> medians;
    for (const Transfers& of : *groups)
      medians.push_back(FleetMedian(of.shortest));
    const double usual = FleetMedian(medians);
    std::vector<double> excesses;
    for (const double median : medians)
      excesses.push_back(median / usual - 1);
    const FleetSpread spread = SpreadOf(excesses, kTransferNoise);
    for (std::size_t i = 0; i < groups->size(); ++i) {
      Transfers& of = (*groups)[i];
      FleetGroup made;
      made.group = of.group;
      made.family = std::get<0>(kind);
      made.hand_over = of.hand_over;
      made.bytes = std::get<1>(kind);
      made.hosts = std::move(of.hosts);
      made.alike = groups->size();
      made.transfer_ns = medians[i];
      made.usual_ns = usual;
      made.excess = excesses[i];
      made.score = spread.ScoreOf(excesses[i]);
      for (const double one : of.shortest)
        made.calls.Add(one - usual);
      made.slow = made.excess >= kFleetSlowTransfer && made.score >= kFleetScoreMin;
      fleet_.groups.push_back(std::move(made));
    }
  }

  using Hosts = std::vector<std::size_t>;

  // One host, two, or all that a wide group has: what might be the cause of a slow group.
  static std::vector<Hosts> SuspectsOf(const FleetGroup& group) {
    std::vector<Hosts> suspects;
    const Hosts& hosts = group.hosts;
    if (hosts.size() > kPairHostsMax) return {hosts};
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      suspects.push_back({hosts[i]});
      for (std::size_t j = i + 1; j < hosts.size(); ++j)
        suspects.push_back({hosts[i], hosts[j]});
    }
    return suspects;
  }

  // Of the suspects, that in whose groups nearly all are slow and which explains most; of several
  // the smaller one, as one bad host is likelier than several bad links.
  void Explain() {
    std::vector<const FleetGroup*> open;
    std::map<std::pair<bool, Hosts>, std::size_t> uses;  // groups by suspect, slow or not
    for (const FleetGroup& group : fleet_.groups) {
      if (group.slow && !group.hosts.empty()) open.push_back(&group);
    }
    if (open.empty()) return;
    std::set<std::pair<bool, Hosts>> suspects;
    for (const FleetGroup* group : open) {
      for (Hosts& hosts : SuspectsOf(*group))
        suspects.insert({group->hosts.size() == 1, std::move(hosts)});
    }
    for (const FleetGroup& group : fleet_.groups) {
      for (Hosts& hosts : SuspectsOf(group)) {
        const std::pair<bool, Hosts> key{group.hosts.size() == 1, std::move(hosts)};
        if (suspects.contains(key)) ++uses[key];
      }
    }
    while (!open.empty() && fleet_.links.size() < kLinksMax)
      ExplainMost(uses, &open);
  }

  static bool IsOf(const FleetGroup& group, const std::pair<bool, Hosts>& suspect) {
    return (group.hosts.size() == 1) == suspect.first &&
           std::includes(group.hosts.begin(), group.hosts.end(), suspect.second.begin(),
                         suspect.second.end());
  }

  void ExplainMost(const std::map<std::pair<bool, Hosts>, std::size_t>& uses,
                   std::vector<const FleetGroup*>* open) {
    std::map<std::pair<bool, Hosts>, std::size_t> slow;
    for (const FleetGroup* group : *open) {
      for (Hosts& hosts : SuspectsOf(*group))
        ++slow[{group->hosts.size() == 1, std::move(hosts)}];
    }
    const std::pair<bool, Hosts>* best = nullptr;
    std::size_t most = 0;
    for (const auto& [suspect, count] : slow) {
      if (static_cast<double>(count) < kBlameShare * static_cast<double>(uses.at(suspect)))
        continue;
      const bool smaller =
          best != nullptr && count == most && suspect.second.size() < best->second.size();
      if (count > most || smaller) {
        best = &suspect;
        most = count;
      }
    }
    if (best == nullptr) {
      // Nothing that other groups do not use as well: the group itself is all there is to tell.
      AddLink({open->front()}, open->front()->hosts, open->front()->hosts.size() == 1);
      open->erase(open->begin());
      return;
    }
    std::vector<const FleetGroup*> explained;
    std::vector<const FleetGroup*> left;
    for (const FleetGroup* group : *open)
      (IsOf(*group, *best) ? explained : left).push_back(group);
    AddLink(explained, SharedHosts(explained), best->first);
    *open = std::move(left);
  }

  // One host, if its slow groups go to several others; else all that they have in common, of which
  // nobody knows which two it is.
  static Hosts SharedHosts(const std::vector<const FleetGroup*>& groups) {
    Hosts shared = groups.front()->hosts;
    for (const FleetGroup* group : groups) {
      Hosts both;
      std::set_intersection(shared.begin(), shared.end(), group->hosts.begin(), group->hosts.end(),
                            std::back_inserter(both));
      shared = std::move(both);
    }
    return shared;
  }

  void AddLink(const std::vector<const FleetGroup*>& groups, Hosts hosts, bool within) {
    FleetLink link;
    link.hosts = std::move(hosts);
    link.within = within;
    link.groups = groups.size();
    std::vector<double> excesses;
    for (const FleetGroup* group : groups) {
      excesses.push_back(group->excess);
      link.calls.above += group->calls.above;
      link.calls.below += group->calls.below;
    }
    link.excess = FleetMedian(std::move(excesses));
    fleet_.links.push_back(std::move(link));
  }

  const RankSet& set_;
  const JointTimeline& joint_;
  FleetFindings& fleet_;
  std::map<std::size_t, std::vector<std::size_t>> hosts_of_;
  std::map<TransferKind, std::vector<Transfers>> alike_;
};

}  // namespace

void CompareFleetLinks(const RankSet& set, const JointTimeline& joint, FleetFindings* fleet) {
  LinkFinder(set, joint, fleet).Run();
}

}  // namespace jarvis::analysis
