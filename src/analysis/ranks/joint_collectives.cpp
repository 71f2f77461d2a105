#include "analysis/ranks/joint_collectives.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/ranks/point_to_point.h"
#include "base/interval.h"

namespace jarvis::analysis {
namespace {

// How far the stretches that two ranks recorded may be apart, in calls.
constexpr std::int64_t kJointShiftMax = 64;
// Ends of one collective agree so well on ranks of one clock; better is luck.
constexpr std::int64_t kEndsAgreeNs = 20'000;
// A rank that has fewer of a group's calls than this share was cut short: the others are matched
// without it.
constexpr double kShortShare = 0.5;
// So many misfits of ends make the order of calls doubtful.
constexpr double kDoubtfulShare = 0.05;

// Of a sorted list.
std::int64_t MiddleOf(const std::vector<std::int64_t>& sorted) {
  const std::size_t half = sorted.size() / 2;
  if (sorted.size() % 2 == 1) return sorted[half];
  return sorted[half - 1] + (sorted[half] - sorted[half - 1]) / 2;
}

std::int64_t MedianNs(std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  return MiddleOf(values);
}

std::string NameIn(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return std::to_string(*whole);
  return {};
}

// Differences of instants that are at most so far from the origin stay within the type.
constexpr std::int64_t kInstantMaxNs = 400'000'000'000'000'000;

// The same instant counted from `base`; unsigned arithmetic wraps, whatever a file says. A trace
// that does not say what its clock counts from (0) is taken to count from where the others do.
std::int64_t OnBase(const RankDigest& digest, std::int64_t base, std::int64_t ns) {
  const std::uint64_t shift = digest.base_ns == 0 ? 0
                                                  : static_cast<std::uint64_t>(digest.base_ns) -
                                                        static_cast<std::uint64_t>(base);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(ns) + shift);
}

// Of sends and receives whose other rank is not recorded.
constexpr std::string_view kNoPeer = "no peer";

// When a rank does what in its communication kernels.
struct CommSets {
  std::vector<Interval<std::int64_t>> transfer;
  std::vector<Interval<std::int64_t>> wait;
  std::vector<Interval<std::int64_t>> bubble;
  std::vector<Interval<std::int64_t>> unmatched;
};

// A call on its rank's clock.
struct OwnCall {
  std::size_t call;
  std::int64_t start;
  std::int64_t end;
  CommFamily family;
  std::optional<std::int64_t> sequence;
};

// What tells groups apart: name and ranks as recorded, else size and number among nameless ones.
using GroupKey = std::tuple<std::string, std::string, std::string>;

class Joiner {
 public:
  explicit Joiner(const RankSet& set) : set_(set), by_group_(set.ranks.size()) {
    made_.ranks.resize(set.ranks.size());
    made_.clocks.resize(set.ranks.size());
  }

  JointTimeline Run() {
    FindOrigin();
    for (std::size_t rank = 0; rank < set_.ranks.size(); ++rank)
      SortIntoGroups(rank);
    for (const auto& [key, ranks] : members_)
      MatchGroup(key, std::vector<std::size_t>(ranks.begin(), ranks.end()));
    SetClocks();
    for (JointCollective& one : made_.collectives)
      Measure(&one);
    std::stable_sort(made_.collectives.begin(), made_.collectives.end(),
                     [](const JointCollective& a, const JointCollective& b) {
                       return a.parts[a.last].start_ns < b.parts[b.last].start_ns;
                     });
    AddUp();
    return std::move(made_);
  }

 private:
  void FindOrigin() {
    bool first = true;
    for (const RankDigest& digest : set_.ranks) {
      if (digest.base_ns != 0)
        made_.base_ns =
            made_.base_ns == 0 ? digest.base_ns : std::min(made_.base_ns, digest.base_ns);
    }
    for (const RankDigest& digest : set_.ranks) {
      for (const CollectiveCall& call : digest.calls) {
        const std::int64_t at = OnBase(digest, made_.base_ns, call.ts_ns);
        made_.origin_ns = first ? at : std::min(made_.origin_ns, at);
        first = false;
      }
    }
  }

  GroupKey KeyOf(const CollectiveKind& kind, std::int64_t rank) const {
    if (FamilyOf(kind) == CommFamily::kPointToPoint) {
      const auto link = LinkOf(kind, rank, set_.world_size);
      return {NameIn(kind.known[kGroup]), NameIn(kind.known[kRanks]),
              link ? "link " + link->Text() : std::string(kNoPeer)};
    }
    const auto* size = std::get_if<std::int64_t>(&kind.known[kGroupSize]);
    const bool world = size != nullptr && set_.world_size && *size == *set_.world_size;
    std::string name = NameIn(kind.known[kGroup]);
    std::string ranks = NameIn(kind.known[kRanks]);
    if (name.empty() && world) return {"", "", "world " + std::to_string(kind.local_group)};
    if (name.empty() && size != nullptr) {
      return {"", "", std::to_string(*size) + " of the world, " + std::to_string(kind.local_group)};
    }
    // Names of groups are those of one process where the ranks are recorded; then these decide.
    if (!ranks.empty()) return {name, ranks, ""};
    return {std::move(name), "", ""};
  }

  void SortIntoGroups(std::size_t rank) {
    const RankDigest& digest = set_.ranks[rank];
    std::vector<std::optional<GroupKey>> keys(digest.kinds.size());
    std::map<Cell, std::set<GroupKey>> of_stream;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const CollectiveKind& kind = digest.kinds[i];
      const bool linked = FamilyOf(kind) == CommFamily::kPointToPoint;
      if (!linked && kind.known[kGroup] == Cell() && kind.known[kGroupSize] == Cell()) continue;
      keys[i] = KeyOf(kind, *digest.rank);
      if (!linked) of_stream[kind.known[kStream]].insert(*keys[i]);
    }
    // Libraries keep a stream for each group, so a call that says nothing is of its stream's.
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (keys[i]) continue;
      const auto found = of_stream.find(digest.kinds[i].known[kStream]);
      keys[i] = found != of_stream.end() && found->second.size() == 1 ? *found->second.begin()
                                                                      : GroupKey{"", "", ""};
    }
    // Equal calls go one way, which takes long to tell.
    struct KindCalls {
      CommFamily family;
      std::vector<OwnCall>* calls = nullptr;
    };
    std::vector<KindCalls> of_kind(digest.kinds.size());
    for (std::size_t i = 0; i < digest.calls.size(); ++i) {
      const CollectiveCall& call = digest.calls[i];
      if (call.left_out) continue;
      const std::int64_t start = OnCommonClock(set_, made_, rank, call.ts_ns);
      const std::int64_t end = start + std::min(call.dur_ns, kCallMaxNs);
      KindCalls& of = of_kind[call.kind];
      if (of.calls == nullptr) {
        const GroupKey& key = *keys[call.kind];
        of = {FamilyOf(digest.kinds[call.kind]), &by_group_[rank][key]};
        members_[key].insert(rank);
      }
      of.calls->push_back({i, start, end, of.family, call.sequence});
    }
    for (auto& [key, calls] : by_group_[rank]) {
      std::stable_sort(calls.begin(), calls.end(),
                       [](const OwnCall& a, const OwnCall& b) { return a.start < b.start; });
    }
  }

  static bool Fits(CommFamily a, CommFamily b) {
    return a == b || a == CommFamily::kOther || b == CommFamily::kOther;
  }

  // How badly calls fit if `calls` lies `shift` later than `reference`: calls of other families or
  // without a partner where they could have one; then how far the ends' differences scatter, in
  // steps that halve; then their median.
  using JointMisfit = std::tuple<std::int64_t, int, std::int64_t>;
  static JointMisfit MisfitOf(const std::vector<OwnCall>& reference,
                              const std::vector<OwnCall>& calls, std::int64_t shift) {
    const auto longest = static_cast<std::int64_t>(reference.size());
    std::int64_t differ = 0;
    std::vector<std::int64_t> differences;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const std::int64_t at = static_cast<std::int64_t>(i) + shift;
      if (at < 0 || at >= longest) continue;
      const OwnCall& one = reference[static_cast<std::size_t>(at)];
      if (!Fits(one.family, calls[i].family)) ++differ;
      differences.push_back(one.end - calls[i].end);
    }
    const std::size_t possible = std::min(reference.size(), calls.size());
    if (differences.empty() || differences.size() * 2 < possible)
      return {std::numeric_limits<std::int64_t>::max(), 0, 0};
    differ += static_cast<std::int64_t>(possible - differences.size());
    const std::int64_t median = MedianNs(differences);
    for (std::int64_t& one : differences)
      one = std::abs(one - median);
    int scatter = 0;
    for (std::int64_t limit = kEndsAgreeNs * 4; limit < MedianNs(differences); limit *= 2)
      ++scatter;
    return {differ, scatter, std::abs(median)};
  }

  static std::int64_t BestShift(const std::vector<OwnCall>& reference,
                                const std::vector<OwnCall>& calls) {
    const auto from_end =
        static_cast<std::int64_t>(reference.size()) - static_cast<std::int64_t>(calls.size());
    std::int64_t best_shift = 0;
    JointMisfit best = MisfitOf(reference, calls, 0);
    const auto attempt = [&](std::int64_t shift) {
      const JointMisfit misfit = MisfitOf(reference, calls, shift);
      if (misfit < best) std::tie(best, best_shift) = std::tuple(misfit, shift);
    };
    if (best == JointMisfit{0, 0, std::get<2>(best)} && from_end == 0) return 0;
    attempt(from_end);
    for (std::int64_t distance = 1; distance <= kJointShiftMax; ++distance) {
      attempt(distance);
      attempt(-distance);
    }
    return best_shift;
  }

  // Pairs of places (reference, calls), both ascending. By the shift alone; where that does not
  // hold all along (records are missing between), by who overlaps with whom.
  using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;
  static Pairs Pair(const std::vector<OwnCall>& reference, const std::vector<OwnCall>& calls) {
    const std::int64_t shift = BestShift(reference, calls);
    Pairs pairs;
    std::vector<std::int64_t> differences;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const std::int64_t at = static_cast<std::int64_t>(i) + shift;
      if (at < 0 || at >= static_cast<std::int64_t>(reference.size())) continue;
      const OwnCall& one = reference[static_cast<std::size_t>(at)];
      if (!Fits(one.family, calls[i].family)) continue;
      pairs.emplace_back(static_cast<std::size_t>(at), i);
      differences.push_back(one.end - calls[i].end);
    }
    if (pairs.empty()) return pairs;
    const std::int64_t offset = MedianNs(std::move(differences));
    const auto apart = [&](std::size_t a, std::size_t b) {
      const OwnCall& one = reference[a];
      const OwnCall& other = calls[b];
      return std::max<std::int64_t>(
          0, std::max(one.start, other.start + offset) - std::min(one.end, other.end + offset));
    };
    const auto doubtful = [&](const Pairs& of) {
      return std::count_if(of.begin(), of.end(),
                           [&](const auto& p) { return apart(p.first, p.second) > kEndsAgreeNs; });
    };
    const auto wrong = doubtful(pairs);
    if (static_cast<double>(wrong) <= kDoubtfulShare * static_cast<double>(pairs.size()))
      return pairs;
    Pairs walked = PairByTime(reference, calls, apart);
    const auto fitting = static_cast<std::ptrdiff_t>(pairs.size()) - wrong;
    return static_cast<std::ptrdiff_t>(walked.size()) > fitting ? walked : pairs;
  }

  template <typename Apart>
  static Pairs PairByTime(const std::vector<OwnCall>& reference, const std::vector<OwnCall>& calls,
                          const Apart& apart) {
    Pairs pairs;
    std::size_t a = 0;
    std::size_t b = 0;
    const auto meet = [&](std::size_t i, std::size_t j) {
      return i < reference.size() && j < calls.size() &&
             Fits(reference[i].family, calls[j].family) && apart(i, j) <= kEndsAgreeNs;
    };
    while (a < reference.size() && b < calls.size()) {
      bool found = false;
      for (std::size_t distance = 0; distance <= kJointShiftMax && !found; ++distance) {
        found = meet(a + distance, b) || meet(a, b + distance);
        if (!found) continue;
        (meet(a + distance, b) ? a : b) += distance;
      }
      if (found) pairs.emplace_back(a, b);
      ++a;
      ++b;
    }
    return pairs;
  }

  // Pairs by the running number, where both have one for each call.
  static std::optional<Pairs> PairBySequence(const std::vector<OwnCall>& reference,
                                             const std::vector<OwnCall>& calls) {
    std::map<std::int64_t, std::size_t> place;
    for (std::size_t i = 0; i < reference.size(); ++i) {
      if (!reference[i].sequence || !place.emplace(*reference[i].sequence, i).second)
        return std::nullopt;
    }
    Pairs pairs;
    std::set<std::int64_t> seen;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (!calls[i].sequence || !seen.insert(*calls[i].sequence).second) return std::nullopt;
      const auto found = place.find(*calls[i].sequence);
      if (found != place.end()) pairs.emplace_back(found->second, i);
    }
    return pairs;
  }

  void MatchGroup(const GroupKey& key, const std::vector<std::size_t>& ranks) {
    const std::size_t group = made_.groups.size();
    made_.groups.push_back({std::get<0>(key), ranks});
    // Of nameless groups smaller than the world nobody knows which ranks are together.
    const std::string& kind = std::get<2>(key);
    if (ranks.size() < 2 || kind == kNoPeer || kind.find(" of the world") != std::string::npos)
      return;
    const bool link = kind.starts_with("link ");
    std::size_t most = ranks.front();
    for (const std::size_t rank : ranks) {
      if (by_group_[rank].at(key).size() > by_group_[most].at(key).size()) most = rank;
    }
    const std::vector<OwnCall>& reference = by_group_[most].at(key);
    std::vector<std::vector<std::pair<std::size_t, std::size_t>>> parts(reference.size());
    std::size_t whole = 0;  // ranks that have a fair share of the calls
    for (const std::size_t rank : ranks) {
      const std::vector<OwnCall>& calls = by_group_[rank].at(key);
      Pairs pairs;
      if (rank == most) {
        for (std::size_t i = 0; i < calls.size(); ++i)
          pairs.emplace_back(i, i);
      } else {
        // Numbers of sends and of receives are those of one rank each.
        if (!link) pairs = PairBySequence(reference, calls).value_or(Pairs());
        if (pairs.empty() && link && calls.size() == reference.size()) {
          for (std::size_t i = 0; i < calls.size(); ++i)
            pairs.emplace_back(i, i);
        }
        if (pairs.empty()) pairs = Pair(reference, calls);
      }
      if (static_cast<double>(pairs.size()) < kShortShare * static_cast<double>(reference.size()))
        continue;
      ++whole;
      for (const auto& [at, i] : pairs)
        parts[at].emplace_back(rank, i);
    }
    for (const auto& of : parts) {
      if (of.size() == whole && whole > 1) Gather(key, group, of);
    }
  }

  void Gather(const GroupKey& key, std::size_t group,
              const std::vector<std::pair<std::size_t, std::size_t>>& of) {
    JointCollective one;
    one.group = group;
    for (const auto& [rank, place] : of) {
      const OwnCall& call = by_group_[rank].at(key)[place];
      if (call.family != CommFamily::kOther) one.family = call.family;
      one.parts.push_back({rank, call.call, call.start, call.end, 0});
    }
    made_.collectives.push_back(std::move(one));
  }

  // The ends of a collective are one instant, so a rank's clock is off by the median of how far
  // its ends lie from the median end.
  //
  // A receive may end long after its send, out of a buffer: these tell of clocks only where a rank
  // has nothing else and its receives would end before their sends begin.
  void SetClocks() {
    std::vector<std::vector<std::int64_t>> differences(set_.ranks.size());
    const bool by_links = LinksDisagree();
    for (const JointCollective& one : made_.collectives) {
      if (one.family == CommFamily::kPointToPoint && !by_links) {
        for (const JointPart& part : one.parts)
          made_.clocks[part.rank].known = true;
        continue;
      }
      std::vector<std::int64_t> ends;
      for (const JointPart& part : one.parts)
        ends.push_back(part.end_ns);
      const std::int64_t middle = MedianNs(std::move(ends));
      for (const JointPart& part : one.parts)
        differences[part.rank].push_back(middle - part.end_ns);
    }
    made_.clock_error_ns = kEndsAgreeNs;
    for (std::size_t rank = 0; rank < differences.size(); ++rank) {
      std::vector<std::int64_t>& of = differences[rank];
      if (of.empty()) continue;
      std::sort(of.begin(), of.end());
      RankClock& clock = made_.clocks[rank];
      clock.known = true;
      clock.offset_ns = MiddleOf(of);
      const std::size_t tenth = of.size() / 10;
      clock.spread_ns = of[of.size() - 1 - tenth] - of[tenth];
      made_.clock_error_ns = std::max(made_.clock_error_ns, clock.spread_ns);
    }
    for (JointCollective& one : made_.collectives) {
      for (JointPart& part : one.parts) {
        part.start_ns += made_.clocks[part.rank].offset_ns;
        part.end_ns += made_.clocks[part.rank].offset_ns;
      }
    }
  }

  // Whether many receives end before their sends begin.
  bool LinksDisagree() const {
    std::size_t links = 0;
    std::size_t impossible = 0;
    for (const JointCollective& one : made_.collectives) {
      if (one.family != CommFamily::kPointToPoint || one.parts.size() != 2) continue;
      ++links;
      const auto [send, receive] = PartsOf(one);
      if (receive.end_ns + kEndsAgreeNs < send.start_ns) ++impossible;
    }
    return static_cast<double>(impossible) > kDoubtfulShare * static_cast<double>(links);
  }

  const CollectiveKind& KindOf(const JointPart& part) const {
    const RankDigest& digest = set_.ranks[part.rank];
    return digest.kinds[digest.calls[part.call].kind];
  }

  // The send and the receive.
  std::pair<JointPart, JointPart> PartsOf(const JointCollective& one) const {
    return IsSend(KindOf(one.parts[0])) ? std::pair(one.parts[0], one.parts[1])
                                        : std::pair(one.parts[1], one.parts[0]);
  }

  // Nobody is late at a hand-over: who receives waits for the stage before.
  void MeasureLink(JointCollective* one) const {
    const auto [send, receive] = PartsOf(*one);
    one->late_ns = 0;
    // A batch that sends and receives meets the other's.
    one->buffered = IsSend(KindOf(send)) && receive.start_ns >= send.end_ns;
    if (!one->buffered) return;
    for (JointPart& part : one->parts)
      part.wait_ns = 0;
    one->shortest_ns = one->transfer_ns = send.end_ns - send.start_ns;
  }

  void Measure(JointCollective* one) {
    std::int64_t first_end = one->parts.front().end_ns;
    std::int64_t first_start = one->parts.front().start_ns;
    one->shortest_ns = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 0; i < one->parts.size(); ++i) {
      const JointPart& part = one->parts[i];
      if (part.start_ns > one->parts[one->last].start_ns) one->last = i;
      first_end = std::min(first_end, part.end_ns);
      first_start = std::min(first_start, part.start_ns);
      one->shortest_ns = std::min(one->shortest_ns, part.end_ns - part.start_ns);
    }
    const std::int64_t last_start = one->parts[one->last].start_ns;
    std::vector<std::int64_t> others;
    for (std::size_t i = 0; i < one->parts.size(); ++i) {
      JointPart& part = one->parts[i];
      part.wait_ns = std::min(last_start - part.start_ns, part.end_ns - part.start_ns);
      if (i != one->last) others.push_back(part.start_ns);
    }
    one->late_ns = std::min(last_start - MedianNs(std::move(others)), kCallMaxNs);
    one->skew_ns = std::min(last_start - first_start, kCallMaxNs);
    one->transfer_ns = std::max<std::int64_t>(0, first_end - last_start);
    if (one->family == CommFamily::kPointToPoint && one->parts.size() == 2) {
      MeasureLink(one);
    } else if (last_start - first_end > made_.clock_error_ns) {
      ++made_.impossible;
    }
  }

  void AddUp() {
    std::vector<CommSets> sets(set_.ranks.size());
    std::vector<std::set<std::size_t>> matched(set_.ranks.size());
    std::map<CommFamily, FamilyTime> families;
    for (const JointCollective& one : made_.collectives) {
      FamilyTime& family = families[one.family];
      ++family.matched;
      family.shortest_ns += one.shortest_ns;
      for (const JointPart& part : one.parts) {
        const std::int64_t met = part.start_ns + part.wait_ns;
        const bool bubble = one.family == CommFamily::kPointToPoint;
        sets[part.rank].transfer.push_back({met, part.end_ns});
        (bubble ? sets[part.rank].bubble : sets[part.rank].wait).push_back({part.start_ns, met});
        matched[part.rank].insert(part.call);
      }
      if (one.late_ns > made_.clock_error_ns) ++made_.ranks[one.parts[one.last].rank].came_last;
    }
    for (std::size_t rank = 0; rank < set_.ranks.size(); ++rank) {
      for (const auto& [key, calls] : by_group_[rank]) {
        for (const OwnCall& call : calls) {
          FamilyTime& family = families[call.family];
          family.by_rank_ns.resize(set_.ranks.size());
          family.by_rank_ns[rank] += call.end - call.start;
          if (matched[rank].contains(call.call)) continue;
          const std::int64_t offset = made_.clocks[rank].offset_ns;
          sets[rank].unmatched.push_back({call.start + offset, call.end + offset});
          ++made_.ranks[rank].unmatched;
        }
      }
      made_.ranks[rank].matched = static_cast<std::int64_t>(matched[rank].size());
      AddTimes(std::move(sets[rank]), &made_.ranks[rank]);
    }
    for (auto& [family, time] : families) {
      time.family = family;
      time.by_rank_ns.resize(set_.ranks.size());
      made_.families.push_back(std::move(time));
    }
    const auto longest = [](const FamilyTime& of) {
      return *std::max_element(of.by_rank_ns.begin(), of.by_rank_ns.end());
    };
    std::stable_sort(
        made_.families.begin(), made_.families.end(),
        [&](const FamilyTime& a, const FamilyTime& b) { return longest(a) > longest(b); });
  }

  static void AddTimes(CommSets sets, RankCommTime* time) {
    if (!sets.bubble.empty()) {
      const auto first =
          std::min_element(sets.bubble.begin(), sets.bubble.end(),
                           [](const auto& a, const auto& b) { return a.start < b.start; });
      time->fill_ns = first->end - first->start;
    }
    auto seen = Union(std::move(sets.transfer));
    time->transfer_ns = Length(seen);
    const auto add = [&](IntervalSet<std::int64_t> more, std::int64_t* ns) {
      more = Union(std::move(more));
      *ns = Length(Subtract(more, seen));
      seen.insert(seen.end(), more.begin(), more.end());
      seen = Union(std::move(seen));
    };
    add(std::move(sets.wait), &time->wait_ns);
    add(std::move(sets.bubble), &time->bubble_ns);
    add(std::move(sets.unmatched), &time->unmatched_ns);
    time->comm_ns = Length(seen);
    time->fill_ns = std::min(time->fill_ns, time->bubble_ns);
  }

  const RankSet& set_;
  std::vector<std::map<GroupKey, std::vector<OwnCall>>> by_group_;  // by rank; calls by start
  std::map<GroupKey, std::set<std::size_t>> members_;
  JointTimeline made_;
};

}  // namespace

JointTimeline JoinCollectives(const RankSet& set) {
  return Joiner(set).Run();
}

std::int64_t OnCommonClock(const RankSet& set, const JointTimeline& joint, std::size_t rank,
                           std::int64_t ns) {
  const auto at = static_cast<std::int64_t>(
      static_cast<std::uint64_t>(OnBase(set.ranks[rank], joint.base_ns, ns)) -
      static_cast<std::uint64_t>(joint.origin_ns));
  return std::clamp(at, -kInstantMaxNs, kInstantMaxNs) + joint.clocks[rank].offset_ns;
}

}  // namespace jarvis::analysis
