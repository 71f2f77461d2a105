#include "analysis/ranks/collective_match.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "analysis/attribution/stats.h"

namespace jarvis::analysis {
namespace {

// How far the stretches that two ranks recorded may be apart, in calls.
constexpr std::int64_t kShiftMax = 64;

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
  Matcher(const RankSet& set, const TableRules& rules)
      : set_(set), rules_(rules), by_group_(set.ranks.size()) {}

  Matching Run() {
    Collect();
    if (rules_.collectives.name_missing_groups) {
      NameGroupsAtOnce();
    } else {
      NameGroups();
    }
    for (std::size_t i = 0; i < result_.calls.size(); ++i) {
      const RankCall& call = result_.calls[i];
      by_group_[call.rank][GroupOf(call)].push_back(i);
    }
    for (auto& groups : by_group_) {
      for (auto& [group, calls] : groups)
        Number(&calls);
    }
    if (!rules_.collectives.kernel_args_only) {
      UseSequences();
      Align();
    }
    NameIds();
    Gather();
    return std::move(result_);
  }

 private:
  // A group: what tables call it, and (if names are shared) its ranks.
  using Group = std::pair<std::string, std::string>;

  Group GroupOf(const RankCall& call) const {
    // The reference knows groups by name alone.
    const bool by_name = rules_.collectives.kernel_args_only;
    return {TextOf(call.keys[kGroup]), by_name ? std::string() : TextOf(call.keys[kRanks])};
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
    for (std::size_t rank = 0; rank < set_.ranks.size(); ++rank) {
      const RankDigest& digest = set_.ranks[rank];
      for (const CollectiveCall& call : digest.calls) {
        if (!Counts(call)) continue;
        RankCall made;
        made.rank = rank;
        made.call = &call;
        made.kind = &digest.kinds[call.kind];
        made.keys = KeysOf(*made.kind);
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
    for (const RankCall& call : result_.calls) {
      if (call.keys[kGroup] == Cell() && call.keys[kStream] != Cell())
        streams[call.rank].insert(call.keys[kStream]);
    }
    return std::all_of(streams.begin(), streams.end(),
                       [](const auto& of) { return of.second.size() <= 1; });
  }

  bool NoGroupNamed() const {
    return std::all_of(result_.calls.begin(), result_.calls.end(),
                       [](const RankCall& call) { return call.keys[kGroup] == Cell(); });
  }

  void NameGroupsAtOnce() {
    result_.simplified = !result_.calls.empty() && NoGroupNamed() && OneStream();
    for (RankCall& call : result_.calls) {
      if (call.keys[kGroup] == Cell())
        call.keys[kGroup] = std::string(result_.simplified ? "all" : "Unknown_Group");
    }
  }

  // A group of the whole world needs no name to be known in all ranks; where nothing at all is
  // known, the stream stands for the group. Calls of other nameless groups stay unmatched.
  void NameGroups() {
    const bool one_stream = OneStream();
    std::uint64_t nameless = 0;
    for (RankCall& call : result_.calls) {
      if (call.keys[kGroup] != Cell()) continue;
      const auto* size = std::get_if<std::int64_t>(&call.keys[kGroupSize]);
      const std::int64_t local = call.kind->local_group;
      const bool world = size != nullptr && set_.world_size && *size == *set_.world_size;
      if (world) {
        call.keys[kGroup] = local > 1 ? fmt::format("world#{}", local) : std::string("world");
        if (call.keys[kRanks] == Cell() && *size <= kWorldShown)
          call.keys[kRanks] = WorldText(*size);
      } else if (size != nullptr) {
        call.keys[kGroup] = local > 1 ? fmt::format("nameless_{}#{}", *size, local)
                                      : fmt::format("nameless_{}", *size);
        unmatchable_.insert(std::get<std::string>(call.keys[kGroup]));
        ++nameless;
      } else {
        call.keys[kGroup] =
            one_stream ? std::string("all") : "stream_" + TextOf(call.keys[kStream]);
      }
    }
    if (nameless > 0) {
      Warn("GROUP_UNKNOWN",
           fmt::format("{} collectives run in groups smaller than the world that the traces do not "
                       "name: they cannot be matched across ranks and are in nccl_long alone",
                       nameless));
    }
  }

  void Number(std::vector<std::size_t>* calls) {
    std::stable_sort(calls->begin(), calls->end(), [&](std::size_t a, std::size_t b) {
      return result_.calls[a].time.start < result_.calls[b].time.start;
    });
    for (std::size_t i = 0; i < calls->size(); ++i)
      result_.calls[(*calls)[i]].index = static_cast<std::int64_t>(i);
  }

  std::set<Group> AllGroups() const {
    std::set<Group> groups;
    for (const auto& of_rank : by_group_) {
      for (const auto& [group, calls] : of_rank)
        groups.insert(group);
    }
    return groups;
  }

  // Where all calls of a group have a number and no rank has one twice.
  void UseSequences() {
    for (const Group& group : AllGroups()) {
      bool usable = true;
      for (const auto& of_rank : by_group_) {
        const auto found = of_rank.find(group);
        if (found == of_rank.end()) continue;
        std::set<std::int64_t> seen;
        for (const std::size_t i : found->second) {
          const auto& sequence = result_.calls[i].call->sequence;
          usable = usable && sequence && seen.insert(*sequence).second;
        }
      }
      if (!usable) continue;
      sequenced_.insert(group);
      for (const auto& of_rank : by_group_) {
        const auto found = of_rank.find(group);
        if (found == of_rank.end()) continue;
        for (const std::size_t i : found->second)
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
           CommFamilyOfName(*one) == CommFamily::kExchange &&
           CommFamilyOfName(*other) == CommFamily::kExchange;
  }

  // Ranks of an all_to_allv send different amounts.
  bool SameCall(const RankCall& a, const RankCall& b) const {
    const auto* name = std::get_if<std::string>(&a.keys[kCollective]);
    const bool own_amounts =
        name != nullptr && rules_.collectives.type_of(*name) == CollectiveType::kAllToAllV;
    for (const CollectiveKey key : {kCollective, kDtype, kIn, kOut, kGroupSize}) {
      if (own_amounts && (key == kIn || key == kOut)) continue;
      if (a.keys[key] != b.keys[key] && !MayBeEqual(key, a.keys[key], b.keys[key])) return false;
    }
    return true;
  }

  // How badly calls fit if `calls` lies `shift` later than `reference`: calls that differ or have
  // no partner where they could have one, then the median distance of their ends.
  std::pair<std::int64_t, double> Misfit(const std::vector<std::size_t>& reference,
                                         const std::vector<std::size_t>& calls,
                                         std::int64_t shift) const {
    std::int64_t differ = 0;
    std::vector<double> distances;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const std::int64_t at = static_cast<std::int64_t>(i) + shift;
      if (at < 0 || at >= static_cast<std::int64_t>(reference.size())) continue;
      const RankCall& one = result_.calls[reference[static_cast<std::size_t>(at)]];
      const RankCall& other = result_.calls[calls[i]];
      if (!SameCall(one, other)) ++differ;
      distances.push_back(std::abs(one.time.end - other.time.end));
    }
    const std::size_t possible = std::min(reference.size(), calls.size());
    if (distances.size() * 2 < possible || distances.empty())
      return {std::numeric_limits<std::int64_t>::max(), 0};
    differ += static_cast<std::int64_t>(possible - distances.size());
    return {differ, Median(std::move(distances))};
  }

  void Align() {
    for (const Group& group : AllGroups()) {
      if (sequenced_.contains(group) || unmatchable_.contains(group.first)) continue;
      const std::vector<std::size_t>* reference = nullptr;  // of the rank with the most calls
      for (const auto& of_rank : by_group_) {
        const auto found = of_rank.find(group);
        if (found != of_rank.end() &&
            (reference == nullptr || found->second.size() > reference->size()))
          reference = &found->second;
      }
      for (std::size_t rank = 0; rank < by_group_.size(); ++rank) {
        const auto found = by_group_[rank].find(group);
        if (found != by_group_[rank].end() && &found->second != reference)
          AlignRank(group, rank, *reference, found->second);
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
    for (const Group& group : AllGroups())
      ++sharing[group.first];
    for (RankCall& call : result_.calls) {
      const Group group = GroupOf(call);
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

  bool Agree(const RankCall& a, const RankCall& b) const {
    return a.keys[kGroup] == b.keys[kGroup] && a.keys[kRanks] == b.keys[kRanks] && SameCall(a, b);
  }

  void Gather() {
    std::map<Cell, std::size_t> of_id;
    std::uint64_t differing = 0;
    for (std::size_t i = 0; i < result_.calls.size(); ++i) {
      const RankCall& call = result_.calls[i];
      if (call.id == Cell()) continue;
      const auto [found, added] = of_id.try_emplace(call.id, result_.collectives.size());
      if (added) {
        MatchedCollective one;
        one.id = call.id;
        if (const auto* name = std::get_if<std::string>(&call.keys[kCollective])) {
          one.type = rules_.collectives.type_of(*name);
          one.named = true;
        }
        result_.collectives.push_back(std::move(one));
      }
      MatchedCollective& collective = result_.collectives[found->second];
      if (!collective.calls.empty() && collective.agree && !result_.simplified &&
          !Agree(result_.calls[collective.calls.front()], call)) {
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
  std::vector<std::map<Group, std::vector<std::size_t>>> by_group_;  // by rank; calls by start
  std::set<std::string> unmatchable_;                                // names of groups
  std::set<Group> sequenced_;
  std::size_t mismatch_ = 0;
  std::string first_mismatch_;
};

}  // namespace

Matching MatchCollectives(const RankSet& set, const TableRules& rules) {
  return Matcher(set, rules).Run();
}

}  // namespace jarvis::analysis
