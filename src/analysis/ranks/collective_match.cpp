#include "analysis/ranks/collective_match.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "analysis/attribution/stats.h"
#include "analysis/ranks/point_to_point.h"

namespace jarvis::analysis {
namespace {

// How far the stretches that two ranks recorded may be apart, in calls.
constexpr std::int64_t kShiftMax = 64;

// Behind the name of a group, of sends and receives whose other rank is not known.
constexpr std::string_view kPeerUnknown = " (peer unknown)";

std::string TextOf(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *whole);
  if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{}", *number);
  return {};
}

// Stays within the type, whatever a file says.
std::int64_t Plus(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<std::int64_t>::min()
               : std::numeric_limits<std::int64_t>::max();
}
std::int64_t Minus(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return a < 0 ? std::numeric_limits<std::int64_t>::min()
               : std::numeric_limits<std::int64_t>::max();
}

// A longer list is left out.
constexpr std::int64_t kWorldShown = 1024;

// "[0, 1, 2]": as groups are recorded.
std::string WorldText(std::int64_t size) {
  std::string text = "[";
  for (std::int64_t rank = 0; rank < size; ++rank)
    text += fmt::format("{}{}", rank == 0 ? "" : ", ", rank);
  return text + "]";
}

class Matcher {
 public:
  Matcher(const RankSet& set, const TableRules& rules) : set_(set), rules_(rules) {}

  Matching Run() {
    Collect();
    if (rules_.collectives.name_missing_groups) {
      NameGroupsAtOnce();
    } else {
      NameGroups();
    }
    SortIntoGroups();
    if (!rules_.collectives.kernel_args_only) {
      UseSequences();
      Align();
    }
    NameIds();
    Gather();
    for (KindUse& use : uses_)
      result_.keys.push_back(std::move(use.keys));
    return std::move(result_);
  }

 private:
  // A group: what tables call it, and (if names are shared) its ranks.
  using Group = std::pair<std::string, std::string>;
  // A rank's calls of a group, by start.
  struct OfRank {
    std::size_t rank;
    std::vector<std::size_t> calls;
  };
  using Groups = std::map<Group, std::vector<OfRank>>;  // each by rank
  // A kind that a rank has calls of that count.
  struct KindUse {
    const CollectiveKind* kind;
    std::size_t rank;
    std::unique_ptr<CollectiveKeys> keys;
    std::uint64_t calls = 0;
    Groups::value_type* group = nullptr;
  };

  Group GroupOf(const KindUse& use) const {
    const CollectiveKeys& keys = *use.keys;
    // The reference knows groups by name alone.
    const bool by_name = rules_.collectives.kernel_args_only;
    std::string name = TextOf(keys[kGroup]);
    if (IsPointToPoint(use)) {
      const auto link = LinkOf(*use.kind, *set_.ranks[use.rank].rank, set_.world_size);
      name += link ? " " + link->Text() : std::string(kPeerUnknown);
    }
    return {std::move(name), by_name ? std::string() : TextOf(keys[kRanks])};
  }

  bool IsPointToPoint(const KindUse& use) const {
    return !rules_.collectives.kernel_args_only && FamilyOf(*use.kind) == CommFamily::kPointToPoint;
  }

  bool Counts(const CollectiveCall& call) const {
    if (!call.counted) return false;
    return rules_.collectives.kernel_args_only ? call.linked && call.modern : !call.left_out;
  }

  CollectiveKeys KeysOf(const CollectiveKind& kind) const {
    if (!rules_.collectives.kernel_args_only) return kind.known;
    CollectiveKeys keys = kind.recorded;
    if (keys[kCollective] == Cell()) keys[kCollective] = CollectiveOfKernel(kind.kernel, false);
    return keys;
  }

  void Collect() {
    // 0: the trace does not say; its clock is taken to count from where the others' do.
    std::int64_t base = std::numeric_limits<std::int64_t>::max();
    for (const RankDigest& digest : set_.ranks) {
      if (digest.base_ns != 0) base = std::min(base, digest.base_ns);
    }
    std::int64_t origin = std::numeric_limits<std::int64_t>::max();
    const auto shifted = [&](const RankDigest& digest, const CollectiveCall& call) {
      return digest.base_ns == 0 ? call.ts_ns : Plus(call.ts_ns, Minus(digest.base_ns, base));
    };
    for (const RankDigest& digest : set_.ranks) {
      for (const CollectiveCall& call : digest.calls)
        origin = std::min(origin, shifted(digest, call));
    }
    std::size_t calls = 0;
    for (const RankDigest& digest : set_.ranks)
      calls += digest.calls.size();
    result_.calls.reserve(calls);
    use_of_.reserve(calls);
    for (std::size_t rank = 0; rank < set_.ranks.size(); ++rank) {
      const RankDigest& digest = set_.ranks[rank];
      std::vector<std::optional<std::size_t>> use_of(digest.kinds.size());
      for (const CollectiveCall& call : digest.calls) {
        if (!Counts(call)) continue;
        RankCall made;
        made.rank = rank;
        made.call = &call;
        made.kind = &digest.kinds[call.kind];
        std::optional<std::size_t>& use = use_of[call.kind];
        if (!use) {
          use = uses_.size();
          uses_.push_back({made.kind, rank, std::make_unique<CollectiveKeys>(KeysOf(*made.kind))});
        }
        ++uses_[*use].calls;
        use_of_.push_back(*use);
        made.shared_keys = uses_[*use].keys.get();
        if (rules_.clock == Clock::kDoubleMicros) {
          made.time = {call.ts_us, call.dur_us, call.ts_us + call.dur_us, call.ts_us};
        } else {
          const std::int64_t ts = shifted(digest, call);
          const std::int64_t start = Minus(ts, origin);
          made.time = {trace::MicrosOf(start), trace::MicrosOf(call.dur_ns),
                       trace::MicrosOf(Plus(start, call.dur_ns)), trace::MicrosOf(ts)};
        }
        result_.calls.push_back(std::move(made));
      }
    }
  }

  // Does every rank use one stream at most for calls of nameless groups?
  bool OneStream() const {
    std::map<std::size_t, std::set<Cell>> streams;
    for (const KindUse& use : uses_) {
      const CollectiveKeys& keys = *use.keys;
      if (keys[kGroup] == Cell() && keys[kStream] != Cell())
        streams[use.rank].insert(keys[kStream]);
    }
    return std::all_of(streams.begin(), streams.end(),
                       [](const auto& of) { return of.second.size() <= 1; });
  }

  bool NoGroupNamed() const {
    return std::all_of(uses_.begin(), uses_.end(),
                       [](const KindUse& use) { return (*use.keys)[kGroup] == Cell(); });
  }

  void NameGroupsAtOnce() {
    result_.simplified = !result_.calls.empty() && NoGroupNamed() && OneStream();
    for (const KindUse& use : uses_) {
      Cell& group = (*use.keys)[kGroup];
      if (group == Cell()) group = std::string(result_.simplified ? "all" : "Unknown_Group");
    }
  }

  // A group of the whole world needs no name to be known in all ranks; where nothing at all is
  // known, the stream stands for the group. Calls of other nameless groups stay unmatched.
  void NameGroups() {
    const bool one_stream = OneStream();
    std::uint64_t nameless = 0;
    for (const KindUse& use : uses_) {
      CollectiveKeys& keys = *use.keys;
      if (keys[kGroup] != Cell()) continue;
      const auto* size = std::get_if<std::int64_t>(&keys[kGroupSize]);
      const std::int64_t local = use.kind->local_group;
      const bool world = size != nullptr && set_.world_size && *size == *set_.world_size;
      if (world) {
        keys[kGroup] = local > 1 ? fmt::format("world#{}", local) : std::string("world");
        if (keys[kRanks] == Cell() && *size <= kWorldShown) keys[kRanks] = WorldText(*size);
      } else if (size != nullptr) {
        keys[kGroup] = local > 1 ? fmt::format("nameless_{}#{}", *size, local)
                                 : fmt::format("nameless_{}", *size);
        unmatchable_.insert(std::get<std::string>(keys[kGroup]));
        nameless += use.calls;
      } else {
        keys[kGroup] = one_stream ? std::string("all") : "stream_" + TextOf(keys[kStream]);
      }
    }
    if (nameless > 0) {
      Warn("GROUP_UNKNOWN",
           fmt::format("{} collectives run in groups smaller than the world that the traces do not "
                       "name: they cannot be matched across ranks and are in nccl_long alone",
                       nameless));
    }
  }

  void SortIntoGroups() {
    std::uint64_t lone = 0;
    for (KindUse& use : uses_) {
      use.group = &*groups_.try_emplace(GroupOf(use)).first;
      const Group& group = use.group->first;
      if (!IsPointToPoint(use)) continue;
      if (group.first.ends_with(kPeerUnknown)) {
        unmatchable_.insert(group.first);
        lone += use.calls;
      } else {
        links_.insert(group);
      }
    }
    if (lone > 0) {
      Warn("PEER_UNKNOWN",
           fmt::format("of {} sends and receives the other rank is not recorded: they cannot be "
                       "matched and are in nccl_long alone",
                       lone));
    }
    for (std::size_t i = 0; i < result_.calls.size(); ++i) {
      std::vector<OfRank>& ranks = uses_[use_of_[i]].group->second;
      const std::size_t rank = result_.calls[i].rank;
      if (ranks.empty() || ranks.back().rank != rank) ranks.push_back({rank, {}});
      ranks.back().calls.push_back(i);
    }
    for (auto& [group, ranks] : groups_) {
      for (OfRank& of : ranks)
        Number(&of.calls);
    }
  }

  void Number(std::vector<std::size_t>* calls) {
    std::stable_sort(calls->begin(), calls->end(), [&](std::size_t a, std::size_t b) {
      return result_.calls[a].time.start < result_.calls[b].time.start;
    });
    for (std::size_t i = 0; i < calls->size(); ++i)
      result_.calls[(*calls)[i]].index = static_cast<std::int64_t>(i);
  }

  // Where all calls of a group have a number and no rank has one twice.
  void UseSequences() {
    for (const auto& [group, ranks] : groups_) {
      // Numbers of sends and of receives are those of one rank each.
      bool usable = !links_.contains(group);
      for (const OfRank& of : ranks) {
        std::set<std::int64_t> seen;
        for (const std::size_t i : of.calls) {
          const auto& sequence = result_.calls[i].call->sequence;
          usable = usable && sequence && seen.insert(*sequence).second;
        }
      }
      if (!usable) continue;
      sequenced_.insert(group);
      for (const OfRank& of : ranks) {
        for (const std::size_t i : of.calls)
          result_.calls[i].index = *result_.calls[i].call->sequence;
      }
    }
  }

  // What one rank did not record contradicts nobody, and a grouped send_recv is an all_to_all.
  bool MayBeEqual(CollectiveKey key, const Cell& a, const Cell& b) const {
    if (rules_.collectives.kernel_args_only) return false;
    if (a == Cell() || b == Cell()) return true;
    const auto* one = std::get_if<std::string>(&a);
    const auto* other = std::get_if<std::string>(&b);
    return key == kCollective && one != nullptr && other != nullptr &&
           IsExchange(CommFamilyOfName(*one)) && IsExchange(CommFamilyOfName(*other));
  }

  static bool IsExchange(CommFamily family) {
    return family == CommFamily::kExchange || family == CommFamily::kPointToPoint;
  }

  // Whether two calls, by place, are the same. Many are of the same two kinds.
  bool SameCall(std::size_t a, std::size_t b) {
    const auto [found, added] = same_.try_emplace(std::pair(use_of_[a], use_of_[b]), false);
    if (added) found->second = SameKeys(result_.calls[a].keys(), result_.calls[b].keys());
    return found->second;
  }

  // Ranks of an all_to_allv send different amounts.
  bool SameKeys(const CollectiveKeys& a, const CollectiveKeys& b) const {
    const auto* name = std::get_if<std::string>(&a[kCollective]);
    const bool own_amounts =
        name != nullptr && rules_.collectives.type_of(*name) == CollectiveType::kAllToAllV;
    for (const CollectiveKey key : {kCollective, kDtype, kIn, kOut, kGroupSize}) {
      if (own_amounts && (key == kIn || key == kOut)) continue;
      if (a[key] != b[key] && !MayBeEqual(key, a[key], b[key])) return false;
    }
    return true;
  }

  // How badly calls fit if `calls` lies `shift` later than `reference`: calls that differ or have
  // no partner where they could have one, then the median distance of their ends.
  std::pair<std::int64_t, double> Misfit(const std::vector<std::size_t>& reference,
                                         const std::vector<std::size_t>& calls,
                                         std::int64_t shift) {
    std::int64_t differ = 0;
    std::vector<double> distances;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const std::int64_t at = static_cast<std::int64_t>(i) + shift;
      if (at < 0 || at >= static_cast<std::int64_t>(reference.size())) continue;
      const std::size_t other = reference[static_cast<std::size_t>(at)];
      if (!SameCall(other, calls[i])) ++differ;
      distances.push_back(
          std::abs(result_.calls[other].time.end - result_.calls[calls[i]].time.end));
    }
    const std::size_t possible = std::min(reference.size(), calls.size());
    if (distances.size() * 2 < possible || distances.empty())
      return {std::numeric_limits<std::int64_t>::max(), 0};
    differ += static_cast<std::int64_t>(possible - distances.size());
    return {differ, Median(std::move(distances))};
  }

  void Align() {
    for (const auto& [group, ranks] : groups_) {
      if (sequenced_.contains(group) || unmatchable_.contains(group.first)) continue;
      const OfRank* reference = nullptr;  // of the rank with the most calls
      for (const OfRank& of : ranks) {
        if (reference == nullptr || of.calls.size() > reference->calls.size()) reference = &of;
      }
      for (const OfRank& of : ranks) {
        // As many sends as receives: ends that are apart are a buffer's doing.
        const bool paired = links_.contains(group) && of.calls.size() == reference->calls.size();
        if (&of != reference && !paired) AlignRank(group, of.rank, reference->calls, of.calls);
      }
    }
  }

  void AlignRank(const Group& group, std::size_t rank, const std::vector<std::size_t>& reference,
                 const std::vector<std::size_t>& calls) {
    auto best = Misfit(reference, calls, 0);
    if (best.first == 0 && calls.size() == reference.size()) return;
    std::int64_t shift = 0;
    for (std::int64_t distance = 1; distance <= kShiftMax; ++distance) {
      for (const std::int64_t candidate : {distance, -distance}) {
        const auto misfit = Misfit(reference, calls, candidate);
        if (misfit < best) {
          best = misfit;
          shift = candidate;
        }
      }
    }
    if (shift == 0) return;
    for (const std::size_t i : calls)
      result_.calls[i].index += shift;
    Warn("RANKS_SHIFTED",
         fmt::format("rank {} recorded another stretch of group {}: its calls are matched {} "
                     "places {}",
                     *set_.ranks[rank].rank, group.first, std::abs(shift),
                     shift > 0 ? "later" : "earlier"));
  }

  void NameIds() {
    std::map<std::string, std::size_t> sharing;  // groups of one name
    for (const auto& [group, ranks] : groups_)
      ++sharing[group.first];
    for (std::size_t i = 0; i < result_.calls.size(); ++i) {
      RankCall& call = result_.calls[i];
      const Group& group = uses_[use_of_[i]].group->first;
      if (result_.simplified) {
        call.id = call.index;
      } else if (unmatchable_.contains(group.first)) {
        ++result_.unmatched;
      } else if (sharing[group.first] > 1) {
        call.id = fmt::format("{}{}_{}", group.first, group.second, call.index);
      } else {
        call.id = fmt::format("{}_{}", group.first, call.index);
      }
    }
  }

  bool Agree(std::size_t a, std::size_t b) {
    const CollectiveKeys& one = result_.calls[a].keys();
    const CollectiveKeys& other = result_.calls[b].keys();
    return one[kGroup] == other[kGroup] && one[kRanks] == other[kRanks] && SameCall(a, b);
  }

  void Gather() {
    std::unordered_map<std::string, std::size_t> of_id;
    std::uint64_t differing = 0;
    for (std::size_t i = 0; i < result_.calls.size(); ++i) {
      const RankCall& call = result_.calls[i];
      if (call.id == Cell()) continue;
      const auto [found, added] = of_id.try_emplace(TextOf(call.id), result_.collectives.size());
      if (added) {
        MatchedCollective one;
        one.id = call.id;
        one.point_to_point = links_.contains(uses_[use_of_[i]].group->first);
        if (const auto* name = std::get_if<std::string>(&call.keys()[kCollective])) {
          one.type = rules_.collectives.type_of(*name);
          one.named = true;
        }
        result_.collectives.push_back(std::move(one));
      }
      MatchedCollective& collective = result_.collectives[found->second];
      if (!collective.calls.empty() && collective.agree && !result_.simplified &&
          !Agree(collective.calls.front(), i)) {
        collective.agree = false;
        if (differing++ == 0) {
          Warn("COLLECTIVE_METADATA_MISMATCH", "");
          mismatch_ = result_.warnings.size() - 1;
          first_mismatch_ = TextOf(call.id);
        }
      }
      collective.calls.push_back(i);
    }
    if (differing > 0) {
      result_.warnings[mismatch_].text = fmt::format(
          "metadata mismatch: the ranks do not say the same of {} collectives, the "
          "first is {}; their rows show what the first rank says",
          differing, first_mismatch_);
    }
  }

  void Warn(const char* code, std::string text) {
    result_.warnings.push_back({code, std::move(text)});
  }

  const RankSet& set_;
  const TableRules& rules_;
  Matching result_;
  std::vector<KindUse> uses_;
  std::vector<std::size_t> use_of_;                           // by call
  std::map<std::pair<std::size_t, std::size_t>, bool> same_;  // of uses
  Groups groups_;
  std::set<std::string> unmatchable_;  // names of groups
  std::set<Group> sequenced_;
  std::set<Group> links_;  // of two ranks, one of which sends to the other
  std::size_t mismatch_ = 0;
  std::string first_mismatch_;
};

}  // namespace

Matching MatchCollectives(const RankSet& set, const TableRules& rules) {
  return Matcher(set, rules).Run();
}

}  // namespace jarvis::analysis
