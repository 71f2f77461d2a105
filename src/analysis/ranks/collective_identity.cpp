#include "analysis/ranks/collective_identity.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "analysis/ranks/call_order.h"
#include "analysis/ranks/node_columns.h"
#include "analysis/ranks/point_to_point.h"

namespace jarvis::analysis {
namespace {

// Differences of instants that are at most so far from the origin stay within the type.
constexpr std::int64_t kInstantMaxNs = 400'000'000'000'000'000;
// A rank that has fewer of a group's calls than this share was cut short: the others are matched
// without it.
constexpr double kShortShare = 0.5;

// Of sends and receives whose other rank is not recorded.
constexpr std::string_view kNoPeer = "(peer unknown)";

std::string TextIn(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return std::to_string(*whole);
  if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{}", *number);
  return {};
}

// What tells groups apart.
struct GroupKey {
  std::string name;   // as recorded
  std::string ranks;  // as recorded
  std::string label;  // what tables call it
  std::string link;
  bool known = true;
  auto operator<=>(const GroupKey&) const = default;
};

// What is equal of kinds that fit the same others.
struct SortKey {
  CommFamily family = CommFamily::kOther;
  Cell dtype;
  Cell in;
  Cell out;
  Cell size;
  auto operator<=>(const SortKey&) const = default;
};
SortKey SortOf(const CollectiveKind& kind) {
  return {FamilyOf(kind), kind.known[kDtype], kind.known[kIn], kind.known[kOut],
          kind.known[kGroupSize]};
}

bool IsExchange(CommFamily family) {
  return family == CommFamily::kExchange || family == CommFamily::kPointToPoint;
}

bool SortsFit(const SortKey& a, const SortKey& b) {
  if (!FamiliesFit(a.family, b.family)) return false;
  const auto may_be = [](const Cell& one, const Cell& other) {
    return one == other || one == Cell() || other == Cell();
  };
  return may_be(a.dtype, b.dtype) && may_be(a.size, b.size) &&
         (IsExchange(a.family) || (may_be(a.in, b.in) && may_be(a.out, b.out)));
}

class Identifier {
 public:
  explicit Identifier(const RankSet& set) : set_(set), by_group_(set.ranks.size()) {
    made_.kinds.resize(set.ranks.size());
  }

  CollectiveIdentity Run() {
    FindOrigin();
    CountSilent();
    for (std::size_t rank = 0; rank < set_.ranks.size(); ++rank)
      SortIntoGroups(rank);
    NameGroups();
    WarnOfUnknown();
    for (std::size_t group = 0; group < keys_.size(); ++group)
      MatchGroup(group);
    return std::move(made_);
  }

 private:
  void FindOrigin() {
    for (const RankDigest& digest : set_.ranks) {
      if (digest.base_ns != 0)
        made_.base_ns =
            made_.base_ns == 0 ? digest.base_ns : std::min(made_.base_ns, digest.base_ns);
    }
    bool first = true;
    for (const RankDigest& digest : set_.ranks) {
      for (const CollectiveCall& call : digest.calls) {
        const std::int64_t at = OnSharedBase(digest, made_.base_ns, call.ts_ns);
        made_.origin_ns = first ? at : std::min(made_.origin_ns, at);
        first = false;
      }
    }
  }

  static bool IsSilent(const CollectiveKind& kind) {
    return FamilyOf(kind) != CommFamily::kPointToPoint && kind.known[kGroup] == Cell() &&
           kind.known[kGroupSize] == Cell();
  }

  // Calls that say nothing of their group keep the order of their stream, if the ranks use streams
  // alike; else the order of all of them.
  void CountSilent() {
    std::vector<std::map<Cell, std::uint64_t>> streams;
    for (const RankDigest& digest : set_.ranks) {
      std::vector<bool> silent;
      for (const CollectiveKind& kind : digest.kinds)
        silent.push_back(IsSilent(kind));
      std::map<Cell, std::uint64_t> of;
      for (const CollectiveCall& call : digest.calls) {
        if (!call.left_out && silent[call.kind]) ++of[digest.kinds[call.kind].known[kStream]];
      }
      if (!of.empty()) streams.push_back(std::move(of));
    }
    by_stream_ = !streams.empty() && streams.front().size() > 1 &&
                 std::all_of(streams.begin(), streams.end(),
                             [&](const auto& of) { return of == streams.front(); });
  }

  GroupKey KeyOf(const CollectiveKind& kind, std::int64_t rank) const {
    GroupKey key;
    key.name = TextIn(kind.known[kGroup]);
    key.ranks = TextIn(kind.known[kRanks]);
    key.label = key.name;
    const auto* size = std::get_if<std::int64_t>(&kind.known[kGroupSize]);
    const bool world = size != nullptr && set_.world_size && *size == *set_.world_size;
    const bool linked = FamilyOf(kind) == CommFamily::kPointToPoint;
    if (key.name.empty() && (world || size == nullptr)) key.label = world ? "world" : "all";
    if (key.name.empty() && size != nullptr && !world) {
      key.label = fmt::format("nameless_{}", *size);
      key.known = linked || !RanksIn(key.ranks).empty();  // else nobody says which are together
    }
    if (key.name.empty() && kind.local_group > 1) key.label += fmt::format("#{}", kind.local_group);
    if (world && key.name.empty() && !linked) key.ranks.clear();
    if (!linked) return key;
    const auto link = LinkOf(kind, rank, set_.world_size);
    key.known = link.has_value();
    key.link = link ? link->Text() : std::string(kNoPeer);
    return key;
  }

  // Libraries keep a stream for each group, so a call that says nothing is of its stream's.
  std::vector<GroupKey> KeysOfKinds(const RankDigest& digest) const {
    std::vector<GroupKey> keys;
    std::map<Cell, std::set<GroupKey>> of_stream;
    for (const CollectiveKind& kind : digest.kinds) {
      keys.push_back(KeyOf(kind, *digest.rank));
      const bool linked = FamilyOf(kind) == CommFamily::kPointToPoint;
      if (!IsSilent(kind) && !linked) of_stream[kind.known[kStream]].insert(keys.back());
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!IsSilent(digest.kinds[i])) continue;
      const Cell& stream = digest.kinds[i].known[kStream];
      const auto found = of_stream.find(stream);
      if (found != of_stream.end() && found->second.size() == 1) {
        keys[i] = *found->second.begin();
      } else if (by_stream_) {
        keys[i].label = "stream_" + TextIn(stream);
      }
    }
    return keys;
  }

  void SortIntoGroups(std::size_t rank) {
    const RankDigest& digest = set_.ranks[rank];
    const std::vector<GroupKey> keys = KeysOfKinds(digest);
    std::vector<KindGroup>& kinds = made_.kinds[rank];
    kinds.resize(keys.size());
    std::vector<std::vector<OrderedCall>*> calls_of(keys.size(), nullptr);
    std::vector<std::pair<CommFamily, std::size_t>> sorts(keys.size());
    for (std::size_t i = 0; i < digest.calls.size(); ++i) {
      const CollectiveCall& call = digest.calls[i];
      if (call.left_out) continue;
      if (calls_of[call.kind] == nullptr) {
        const GroupKey& key = keys[call.kind];
        const std::size_t group = groups_.try_emplace(key, groups_.size()).first->second;
        kinds[call.kind] = {group, key.label};
        calls_of[call.kind] = &by_group_[rank][group];
        const SortKey sort = SortOf(digest.kinds[call.kind]);
        sorts[call.kind] = {sort.family, SortIndex(sort)};
      }
      const std::int64_t start = FromOrigin(digest, made_.base_ns, made_.origin_ns, call.ts_ns);
      calls_of[call.kind]->push_back({i, start, start + std::min(call.dur_ns, kCallMaxNs),
                                      sorts[call.kind].first, sorts[call.kind].second,
                                      call.sequence});
    }
    for (auto& [group, calls] : by_group_[rank]) {
      std::stable_sort(calls.begin(), calls.end(), [](const OrderedCall& a, const OrderedCall& b) {
        return a.start < b.start;
      });
    }
  }

  std::size_t SortIndex(const SortKey& sort) {
    const auto [found, added] = sort_index_.try_emplace(sort, sort_index_.size());
    if (added) {
      for (std::vector<bool>& row : fit_)
        row.push_back(SortsFit(sorts_[static_cast<std::size_t>(&row - fit_.data())], sort));
      sorts_.push_back(sort);
      std::vector<bool> row;
      for (const SortKey& other : sorts_)
        row.push_back(SortsFit(sort, other));
      fit_.push_back(std::move(row));
    }
    return found->second;
  }

  // In the order of their keys, whatever the order of files and calls.
  void NameGroups() {
    std::vector<std::size_t> place(groups_.size());
    std::map<std::string, std::size_t> sharing;  // groups of one name
    const auto shown = [](const GroupKey& key) {
      return key.link.empty() ? key.label : key.label + " " + key.link;
    };
    for (const auto& [key, number] : groups_) {
      place[number] = keys_.size();
      keys_.push_back(key);
      ++sharing[shown(key)];
    }
    for (std::size_t rank = 0; rank < by_group_.size(); ++rank) {
      std::map<std::size_t, std::vector<OrderedCall>> placed;
      for (auto& [group, calls] : by_group_[rank])
        placed.emplace(place[group], std::move(calls));
      by_group_[rank] = std::move(placed);
      for (KindGroup& kind : made_.kinds[rank]) {
        if (kind.group) kind.group = place[*kind.group];
      }
    }
    for (const GroupKey& key : keys_) {
      CollectiveGroup& made = made_.groups.emplace_back();
      made.name = key.name;
      made.id = shown(key) + (sharing[shown(key)] > 1 ? key.ranks : "");
      made.link = !key.link.empty() && key.known;
      made.known = key.known;
    }
    for (std::size_t rank = 0; rank < by_group_.size(); ++rank) {
      for (const auto& [group, calls] : by_group_[rank])
        made_.groups[group].ranks.push_back(rank);
    }
  }

  void WarnOfUnknown() {
    std::size_t nameless = 0;
    std::size_t lone = 0;
    for (const auto& of : by_group_) {
      for (const auto& [group, calls] : of) {
        if (keys_[group].known) continue;
        (keys_[group].link.empty() ? nameless : lone) += calls.size();
      }
    }
    if (nameless > 0) {
      Warn("GROUP_UNKNOWN",
           fmt::format("{} collectives run in groups smaller than the world that the traces do not "
                       "name: they cannot be matched across ranks and are in nccl_long alone",
                       nameless));
    }
    if (lone > 0) {
      Warn("PEER_UNKNOWN",
           fmt::format("of {} sends and receives the other rank is not recorded: they cannot be "
                       "matched and are in nccl_long alone",
                       lone));
    }
  }

  // The running numbers of all calls, if each rank recorded one for each and none twice.
  std::optional<std::map<std::int64_t, std::vector<CollectivePart>>> BySequence(
      std::size_t group, const std::vector<std::size_t>& ranks) const {
    std::map<std::int64_t, std::vector<CollectivePart>> found;
    for (const std::size_t rank : ranks) {
      for (const OrderedCall& call : by_group_[rank].at(group)) {
        if (!call.sequence) return std::nullopt;
        std::vector<CollectivePart>& parts = found[*call.sequence];
        if (!parts.empty() && parts.back().rank == rank) return std::nullopt;
        parts.push_back({rank, call.call});
      }
    }
    return found;
  }

  void MatchGroup(std::size_t group) {
    const std::vector<std::size_t>& ranks = made_.groups[group].ranks;
    if (!keys_[group].known) return;
    std::size_t most = ranks.front();
    for (const std::size_t rank : ranks) {
      if (by_group_[rank].at(group).size() > by_group_[most].at(group).size()) most = rank;
    }
    std::map<std::int64_t, std::vector<CollectivePart>> parts;
    // Numbers of sends and of receives are those of one rank each.
    auto numbered = made_.groups[group].link ? std::nullopt : BySequence(group, ranks);
    if (numbered) {
      parts = std::move(*numbered);
    } else {
      MatchByOrder(group, ranks, most, &parts);
    }
    // Ranks that have a fair share of the calls.
    std::map<std::size_t, std::size_t> calls;
    for (const auto& [index, of] : parts) {
      const bool has_most =
          std::any_of(of.begin(), of.end(), [&](const auto& part) { return part.rank == most; });
      for (const CollectivePart& part : of)
        calls[part.rank] += has_most ? 1 : 0;
    }
    const double least = kShortShare * static_cast<double>(by_group_[most].at(group).size());
    std::erase_if(calls, [&](const auto& of) { return static_cast<double>(of.second) < least; });
    for (auto& [index, of] : parts) {
      std::erase_if(of, [&](const CollectivePart& part) { return !calls.contains(part.rank); });
      if (of.empty()) continue;
      const bool whole = of.size() > 1 && of.size() == calls.size();
      made_.collectives.push_back({group, index, std::move(of), whole});
    }
  }

  void MatchByOrder(std::size_t group, const std::vector<std::size_t>& ranks, std::size_t most,
                    std::map<std::int64_t, std::vector<CollectivePart>>* parts) {
    const std::vector<OrderedCall>& reference = by_group_[most].at(group);
    const auto fits = [&](const OrderedCall& a, const OrderedCall& b) {
      return fit_[a.sort][b.sort];
    };
    for (const std::size_t rank : ranks) {
      const std::vector<OrderedCall>& calls = by_group_[rank].at(group);
      // As many sends as receives: ends that are apart are a buffer's doing.
      const bool alike =
          rank == most || (made_.groups[group].link && calls.size() == reference.size());
      const CallPairs pairs = alike ? InOrder(calls.size()) : PairCalls(reference, calls, fits);
      for (const auto& [at, i] : pairs.places)
        (*parts)[static_cast<std::int64_t>(at)].push_back({rank, calls[i].call});
      if (pairs.shift == 0) continue;
      Warn("RANKS_SHIFTED",
           fmt::format("rank {} recorded another stretch of group {}: its calls are matched {} "
                       "places {}",
                       *set_.ranks[rank].rank, made_.groups[group].id, std::abs(pairs.shift),
                       pairs.shift > 0 ? "later" : "earlier"));
    }
  }

  void Warn(const char* code, std::string text) {
    made_.warnings.push_back({code, std::move(text)});
  }

  const RankSet& set_;
  CollectiveIdentity made_;
  bool by_stream_ = false;
  std::map<GroupKey, std::size_t> groups_;
  std::vector<GroupKey> keys_;                                             // by group
  std::vector<std::map<std::size_t, std::vector<OrderedCall>>> by_group_;  // by rank; by start
  std::map<SortKey, std::size_t> sort_index_;
  std::vector<SortKey> sorts_;
  std::vector<std::vector<bool>> fit_;  // of sorts
};

}  // namespace

std::string CollectiveIdentity::IdOf(const OneCollective& one) const {
  return fmt::format("{}_{}", groups[one.group].id, one.index);
}

CollectiveIdentity IdentifyCollectives(const RankSet& set) {
  return Identifier(set).Run();
}

bool MayBeOne(const CollectiveKind& a, const CollectiveKind& b) {
  return SortsFit(SortOf(a), SortOf(b));
}

// Unsigned arithmetic wraps, whatever a file says.
std::int64_t OnSharedBase(const RankDigest& digest, std::int64_t base_ns, std::int64_t ns) {
  const std::uint64_t shift = digest.base_ns == 0 ? 0
                                                  : static_cast<std::uint64_t>(digest.base_ns) -
                                                        static_cast<std::uint64_t>(base_ns);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(ns) + shift);
}

std::int64_t FromOrigin(const RankDigest& digest, std::int64_t base_ns, std::int64_t origin_ns,
                        std::int64_t ns) {
  const auto at =
      static_cast<std::int64_t>(static_cast<std::uint64_t>(OnSharedBase(digest, base_ns, ns)) -
                                static_cast<std::uint64_t>(origin_ns));
  return std::clamp(at, -kInstantMaxNs, kInstantMaxNs);
}

}  // namespace jarvis::analysis
