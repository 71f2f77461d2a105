#include "analysis/ranks/collective_match.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "analysis/attribution/stats.h"

namespace jarvis::analysis {
namespace {

std::string TextOf(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *whole);
  if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{}", *number);
  return {};
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
  Matcher(const RankSet& set, const JointTimeline* joint, const TableRules& rules)
      : set_(set), joint_(joint), rules_(rules) {}

  Matching Run() {
    Collect();
    if (joint_ == nullptr) {
      NameGroupsAtOnce();
      NumberByOrder();
    } else {
      TakeIdentity();
    }
    Gather();
    for (KindUse& use : uses_)
      result_.keys.push_back(std::move(use.keys));
    return std::move(result_);
  }

 private:
  // A kind that a rank has calls of that count.
  struct KindUse {
    const CollectiveKind* kind;
    std::size_t rank;
    std::unique_ptr<CollectiveKeys> keys;
  };

  bool Counts(const CollectiveCall& call) const {
    return joint_ == nullptr ? call.counted && call.linked && call.modern : !call.left_out;
  }

  CollectiveKeys KeysOf(std::size_t rank, std::size_t kind) const {
    const CollectiveKind& of = set_.ranks[rank].kinds[kind];
    CollectiveKeys keys = joint_ == nullptr ? of.recorded : of.known;
    if (joint_ == nullptr) {
      if (keys[kCollective] == Cell()) keys[kCollective] = CollectiveOfKernel(of.kernel, false);
      return keys;
    }
    if (keys[kCollective] == Cell()) {
      const auto family = CommFamilyOfKernel(of.kernel);
      if (family && *family != CommFamily::kOther)
        keys[kCollective] = std::string(CommFamilyName(*family));
    }
    if (keys[kGroup] != Cell()) return keys;
    keys[kGroup] = joint_->identity.kinds[rank][kind].label;
    const auto* size = std::get_if<std::int64_t>(&keys[kGroupSize]);
    const bool world = size != nullptr && set_.world_size && *size == *set_.world_size;
    if (world && keys[kRanks] == Cell() && *size <= kWorldShown) keys[kRanks] = WorldText(*size);
    return keys;
  }

  CallTime TimeOf(std::size_t rank, const CollectiveCall& call) const {
    if (joint_ == nullptr) return {call.ts_us, call.dur_us, call.ts_us + call.dur_us, call.ts_us};
    const RankDigest& digest = set_.ranks[rank];
    const std::int64_t start = OnCommonClock(set_, *joint_, rank, call.ts_ns);
    const std::int64_t dur = std::min(call.dur_ns, kCallMaxNs);
    return {trace::MicrosOf(start), trace::MicrosOf(dur), trace::MicrosOf(start + dur),
            trace::MicrosOf(OnSharedBase(digest, joint_->identity.base_ns, call.ts_ns))};
  }

  void Collect() {
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
          uses_.push_back(
              {made.kind, rank, std::make_unique<CollectiveKeys>(KeysOf(rank, call.kind))});
        }
        use_of_.push_back(*use);
        made.shared_keys = uses_[*use].keys.get();
        made.time = TimeOf(rank, call);
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

  // The rule of the reference: a rank's calls of a group in the order of their starts.
  void NumberByOrder() {
    std::map<std::pair<std::string, std::size_t>, std::vector<std::size_t>> groups;  // of a rank
    for (std::size_t i = 0; i < result_.calls.size(); ++i) {
      const RankCall& call = result_.calls[i];
      groups[{TextOf(call.keys()[kGroup]), call.rank}].push_back(i);
    }
    for (auto& [key, calls] : groups) {
      std::stable_sort(calls.begin(), calls.end(), [&](std::size_t a, std::size_t b) {
        return result_.calls[a].time.start < result_.calls[b].time.start;
      });
      for (std::size_t i = 0; i < calls.size(); ++i) {
        RankCall& call = result_.calls[calls[i]];
        call.index = static_cast<std::int64_t>(i);
        call.id = result_.simplified ? Cell(call.index)
                                     : Cell(fmt::format("{}_{}", key.first, call.index));
      }
    }
  }

  void TakeIdentity() {
    const CollectiveIdentity& identity = joint_->identity;
    result_.warnings = identity.warnings;
    constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    std::vector<std::vector<std::size_t>> of_call;
    for (const RankDigest& digest : set_.ranks)
      of_call.emplace_back(digest.calls.size(), kNone);
    std::vector<std::string> ids;
    for (std::size_t i = 0; i < identity.collectives.size(); ++i) {
      ids.push_back(identity.IdOf(identity.collectives[i]));
      for (const CollectivePart& part : identity.collectives[i].parts)
        of_call[part.rank][part.call] = i;
    }
    for (const JointCollective& one : joint_->collectives)
      joint_of_.emplace(ids[one.one], &one);
    for (RankCall& call : result_.calls) {
      const auto place = static_cast<std::size_t>(call.call - set_.ranks[call.rank].calls.data());
      const std::size_t of = of_call[call.rank][place];
      if (of == kNone) {
        ++result_.unmatched;
        continue;
      }
      call.id = ids[of];
      call.index = identity.collectives[of].index;
      if (identity.groups[identity.collectives[of].group].link) links_.insert(ids[of]);
    }
  }

  // What one rank did not record contradicts nobody, but in the reference.
  bool Agree(std::size_t a, std::size_t b) {
    const auto [found, added] = same_.try_emplace(std::pair(use_of_[a], use_of_[b]), false);
    if (!added) return found->second;
    const CollectiveKeys& one = result_.calls[a].keys();
    const CollectiveKeys& other = result_.calls[b].keys();
    found->second = one[kGroup] == other[kGroup] && one[kRanks] == other[kRanks] &&
                    (joint_ != nullptr ? MayBeOne(*result_.calls[a].kind, *result_.calls[b].kind)
                                       : SameKeys(one, other));
    return found->second;
  }

  // Ranks of an all_to_allv send different amounts.
  bool SameKeys(const CollectiveKeys& a, const CollectiveKeys& b) const {
    const auto* name = std::get_if<std::string>(&a[kCollective]);
    const bool own_amounts =
        name != nullptr && rules_.collectives.type_of(*name) == CollectiveType::kAllToAllV;
    for (const CollectiveKey key : {kCollective, kDtype, kIn, kOut, kGroupSize}) {
      if (own_amounts && (key == kIn || key == kOut)) continue;
      if (a[key] != b[key]) return false;
    }
    return true;
  }

  void Gather() {
    std::unordered_map<std::string, std::size_t> of_id;
    std::uint64_t differing = 0;
    std::string first;
    for (std::size_t i = 0; i < result_.calls.size(); ++i) {
      const RankCall& call = result_.calls[i];
      if (call.id == Cell()) continue;
      const std::string id = TextOf(call.id);
      const auto [found, added] = of_id.try_emplace(id, result_.collectives.size());
      if (added) {
        MatchedCollective one;
        one.id = call.id;
        one.point_to_point = links_.contains(id);
        const auto joint = joint_of_.find(id);
        if (joint != joint_of_.end()) {
          one.joint = joint->second;
          one.came_late = HasLast(*joint_, *joint->second);
        }
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
        if (differing++ == 0) first = id;
      }
      collective.calls.push_back(i);
    }
    if (differing > 0) {
      result_.warnings.push_back(
          {"COLLECTIVE_METADATA_MISMATCH",
           fmt::format("metadata mismatch: the ranks do not say the same of {} collectives, the "
                       "first is {}; their rows show what the first rank says",
                       differing, first)});
    }
  }

  const RankSet& set_;
  const JointTimeline* joint_;
  const TableRules& rules_;
  Matching result_;
  std::vector<KindUse> uses_;
  std::vector<std::size_t> use_of_;                                   // by call
  std::map<std::pair<std::size_t, std::size_t>, bool> same_;          // of uses
  std::unordered_map<std::string, const JointCollective*> joint_of_;  // whole ones, by id
  std::set<std::string> links_;                                       // by id
};

}  // namespace

Matching MatchCollectives(const RankSet& set, const JointTimeline* joint, const TableRules& rules) {
  return Matcher(set, joint, rules).Run();
}

}  // namespace jarvis::analysis
