#include "analysis/ranks/fleet_classes.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/ranks/collective_sizes.h"
#include "analysis/ranks/node_columns.h"
#include "analysis/ranks/point_to_point.h"

namespace jarvis::analysis {
namespace {

// Counts of ranks that do the same differ by the edges of recordings, not by more.
constexpr double kSameCountShare = 1.05;
constexpr std::int64_t kSameCountEdge = 2;

// What a kind of collective says of a rank's work: its family, its group's size, what it moves, and
// (of ranks that hand on to the next) the rank's place in the group.
using WorkSign = std::tuple<CommFamily, Cell, Cell, Cell, Cell, std::int64_t>;

std::set<WorkSign> SignsOf(const RankDigest& digest) {
  std::set<WorkSign> signs;
  std::vector<bool> used(digest.kinds.size());
  for (const CollectiveCall& call : digest.calls) {
    if (!call.left_out) used[call.kind] = true;
  }
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (!used[i]) continue;
    const CollectiveKind& kind = digest.kinds[i];
    const CollectiveKeys& keys = kind.known;
    std::int64_t place = -1;
    const auto* ranks = std::get_if<std::string>(&keys[kRanks]);
    if (ranks != nullptr && IsHandOver(keys)) {
      const std::vector<std::int64_t> members = RanksIn(*ranks);
      const auto found = std::find(members.begin(), members.end(), *digest.rank);
      if (found != members.end()) place = found - members.begin();
    }
    signs.insert({FamilyOf(kind), keys[kGroupSize], keys[kDtype], keys[kIn], keys[kOut], place});
  }
  return signs;
}

std::int64_t KernelsOf(const RankDigest& digest) {
  if (!digest.kernels) return 0;
  std::int64_t count = digest.kernels->rest.count;
  for (const RankKernel& kernel : digest.kernels->list)
    count += kernel.count;
  return count;
}

// Ranks by a count, cut where it jumps.
std::vector<std::vector<std::size_t>> CutByCount(const std::vector<std::size_t>& ranks,
                                                 const std::vector<std::int64_t>& count_of) {
  std::vector<std::size_t> order = ranks;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return count_of[a] < count_of[b]; });
  std::vector<std::vector<std::size_t>> parts;
  for (const std::size_t rank : order) {
    const bool jumps =
        parts.empty() ||
        static_cast<double>(count_of[rank]) >
            kSameCountShare * static_cast<double>(count_of[parts.back().back()] + kSameCountEdge);
    if (jumps) parts.emplace_back();
    parts.back().push_back(rank);
  }
  return parts;
}

}  // namespace

void FindFleetClasses(const RankSet& set, FleetFindings* fleet) {
  fleet->ranks.resize(set.ranks.size());
  std::map<std::set<WorkSign>, std::vector<std::size_t>> alike;
  std::vector<std::int64_t> calls;
  std::vector<std::int64_t> kernels;
  for (std::size_t rank = 0; rank < set.ranks.size(); ++rank) {
    alike[SignsOf(set.ranks[rank])].push_back(rank);
    calls.push_back(static_cast<std::int64_t>(set.ranks[rank].calls.size()));
    kernels.push_back(KernelsOf(set.ranks[rank]));
  }
  for (const auto& [signs, ranks] : alike) {
    for (const auto& by_calls : CutByCount(ranks, calls)) {
      for (auto& members : CutByCount(by_calls, kernels)) {
        std::sort(members.begin(), members.end());
        FleetClass made;
        made.ranks = std::move(members);
        fleet->classes.push_back(std::move(made));
      }
    }
  }
  std::sort(fleet->classes.begin(), fleet->classes.end(),
            [](const FleetClass& a, const FleetClass& b) { return a.ranks < b.ranks; });
  for (std::size_t i = 0; i < fleet->classes.size(); ++i) {
    for (const std::size_t rank : fleet->classes[i].ranks)
      fleet->ranks[rank].peers = i;
  }
}

void FindFleetHosts(const RankSet& set, std::optional<std::int64_t> ranks_per_host,
                    FleetFindings* fleet) {
  const auto named = [](const RankDigest& digest) { return !digest.host.empty(); };
  const bool names = std::all_of(set.ranks.begin(), set.ranks.end(), named);
  const auto devices = set.ranks.front().devices;
  if (ranks_per_host) {
    fleet->hosts_by = FleetHostsBy::kGiven;
  } else if (names) {
    fleet->hosts_by = FleetHostsBy::kNames;
  } else if (devices && *devices > 1) {
    fleet->hosts_by = FleetHostsBy::kDevices;
    ranks_per_host = devices;
  }
  if (fleet->hosts_by == FleetHostsBy::kNothing) return;
  std::map<std::string, std::size_t> known;
  for (std::size_t rank = 0; rank < set.ranks.size(); ++rank) {
    const RankDigest& digest = set.ranks[rank];
    const std::string name =
        ranks_per_host ? std::to_string(*digest.rank / *ranks_per_host) : digest.host;
    const auto [found, added] = known.try_emplace(name, fleet->hosts.size());
    if (added) {
      fleet->hosts.emplace_back();
      fleet->hosts.back().name = name;
    }
    fleet->hosts[found->second].ranks.push_back(rank);
    fleet->ranks[rank].host = found->second;
  }
}

}  // namespace jarvis::analysis
