#include "analysis/ranks/joint_collectives.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "analysis/ranks/point_to_point.h"
#include "base/median.h"

namespace jarvis::analysis {
namespace {

// Kernels of a few collectives end so long before another rank's begins, within the clocks' noise.
constexpr std::int64_t kClockNoiseNs = 100'000;
// Of mending clocks by the middle ends that they had in the round before.
constexpr int kClockRounds = 4;
// A collective of a send and its receive has these.
constexpr std::size_t kLinkParts = 2;

class Joiner {
 public:
  explicit Joiner(const RankSet& set) : set_(set) {
    made_.ranks.resize(set.ranks.size());
    made_.clocks.resize(set.ranks.size());
    made_.sets.resize(set.ranks.size());
  }

  JointTimeline Run() {
    made_.identity = IdentifyCollectives(set_);
    made_.origin_ns = made_.identity.origin_ns;
    for (std::size_t i = 0; i < made_.identity.collectives.size(); ++i) {
      if (made_.identity.collectives[i].whole) Gather(i);
    }
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
  void Gather(std::size_t place) {
    const OneCollective& of = made_.identity.collectives[place];
    JointCollective one;
    one.one = place;
    one.group = of.group;
    for (const CollectivePart& part : of.parts) {
      const RankDigest& digest = set_.ranks[part.rank];
      const CollectiveCall& call = digest.calls[part.call];
      const CommFamily family = FamilyOfKind(part.rank, call.kind);
      if (family != CommFamily::kOther) one.family = family;
      const std::int64_t start =
          FromOrigin(digest, made_.identity.base_ns, made_.origin_ns, call.ts_ns);
      one.parts.push_back(
          {part.rank, part.call, start, start + std::min(call.dur_ns, kCallMaxNs), 0});
    }
    made_.collectives.push_back(std::move(one));
  }

  // Names take long to tell.
  CommFamily FamilyOfKind(std::size_t rank, std::size_t kind) {
    if (families_.empty()) families_.resize(set_.ranks.size());
    std::vector<std::optional<CommFamily>>& of = families_[rank];
    if (of.empty()) of.resize(set_.ranks[rank].kinds.size());
    if (!of[kind]) of[kind] = FamilyOf(set_.ranks[rank].kinds[kind]);
    return *of[kind];
  }

  // The ends of a collective are one instant. So the clocks of ranks that meet are first put on one
  // by the medians between pairs of them, whatever constants lie between; then a rank's clock is
  // off by the median of how far its ends lie from the median end, which is mended in rounds.
  //
  // A receive may end long after its send, out of a buffer: these tell of clocks only where a rank
  // has nothing else and its receives would end before their sends begin.
  void SetClocks() {
    const bool by_links = LinksDisagree();
    for (const JointCollective& one : made_.collectives) {
      for (const JointPart& part : one.parts)
        made_.clocks[part.rank].known = true;
    }
    JoinClocks(by_links);
    for (int round = 0; round < kClockRounds; ++round) {
      if (!MendClocks(by_links)) break;
    }
    CentreClocks();
    std::optional<std::int64_t> first;
    for (JointCollective& one : made_.collectives) {
      for (JointPart& part : one.parts) {
        part.start_ns += made_.clocks[part.rank].offset_ns;
        part.end_ns += made_.clocks[part.rank].offset_ns;
        first = std::min(first.value_or(part.start_ns), part.start_ns);
      }
    }
    if (!first) return;
    made_.origin_ns = static_cast<std::int64_t>(static_cast<std::uint64_t>(made_.origin_ns) +
                                                static_cast<std::uint64_t>(*first));
    for (JointCollective& one : made_.collectives) {
      for (JointPart& part : one.parts) {
        part.start_ns -= *first;
        part.end_ns -= *first;
      }
    }
  }

  // Whether a clock was off by anything.
  bool MendClocks(bool by_links) {
    std::vector<std::vector<std::int64_t>> differences(set_.ranks.size());
    for (const JointCollective& one : made_.collectives) {
      if (!TellsClocks(one, by_links)) continue;
      std::vector<std::int64_t> ends;
      for (const JointPart& part : one.parts)
        ends.push_back(part.end_ns + made_.clocks[part.rank].offset_ns);
      const std::int64_t middle = MedianOfTimes(ends);
      for (std::size_t i = 0; i < ends.size(); ++i)
        differences[one.parts[i].rank].push_back(middle - ends[i]);
    }
    bool any = false;
    made_.clock_error_ns = kEndsAgreeNs;
    for (std::size_t rank = 0; rank < differences.size(); ++rank) {
      std::vector<std::int64_t>& of = differences[rank];
      if (of.empty()) continue;
      std::sort(of.begin(), of.end());
      RankClock& clock = made_.clocks[rank];
      const std::int64_t off = MedianOfTimes(of);
      any = any || off != 0;
      clock.offset_ns += off;
      const std::size_t tenth = of.size() / 10;
      clock.spread_ns = of[of.size() - 1 - tenth] - of[tenth];
      made_.clock_error_ns = std::max(made_.clock_error_ns, clock.spread_ns);
    }
    return any;
  }

  static bool TellsClocks(const JointCollective& one, bool by_links) {
    return by_links || one.family != CommFamily::kPointToPoint;
  }

  // Of each rank that meets others: what to add to its clock, so that the middle end of what it
  // shares with one of them agrees. Ranks that are joined already stay as they are.
  void JoinClocks(bool by_links) {
    std::map<std::pair<std::size_t, std::size_t>, std::vector<std::int64_t>> apart;
    for (const JointCollective& one : made_.collectives) {
      if (!TellsClocks(one, by_links)) continue;
      const JointPart& first = one.parts.front();
      for (std::size_t i = 1; i < one.parts.size(); ++i)
        apart[{first.rank, one.parts[i].rank}].push_back(first.end_ns - one.parts[i].end_ns);
    }
    std::vector<std::vector<std::pair<std::size_t, std::int64_t>>> meets(set_.ranks.size());
    for (auto& [ranks, differences] : apart) {
      const std::int64_t middle = MedianOfTimes(std::move(differences));
      meets[ranks.first].emplace_back(ranks.second, middle);
      meets[ranks.second].emplace_back(ranks.first, -middle);
    }
    std::vector<bool> joined(set_.ranks.size(), false);
    for (std::size_t begin = 0; begin < joined.size(); ++begin) {
      if (joined[begin]) continue;
      joined[begin] = true;
      std::vector<std::size_t> next = {begin};
      for (std::size_t at = 0; at < next.size(); ++at) {
        for (const auto& [other, middle] : meets[next[at]]) {
          if (joined[other]) continue;
          joined[other] = true;
          made_.clocks[other].offset_ns = made_.clocks[next[at]].offset_ns + middle;
          next.push_back(other);
        }
      }
    }
  }

  // No rank's clock is the right one: the middle one stays as it is.
  void CentreClocks() {
    std::vector<std::int64_t> offsets;
    for (const RankClock& clock : made_.clocks) {
      if (clock.known) offsets.push_back(clock.offset_ns);
    }
    if (offsets.empty()) return;
    const std::int64_t middle = MedianOfTimes(std::move(offsets));
    for (RankClock& clock : made_.clocks) {
      if (clock.known) clock.offset_ns -= middle;
    }
  }

  // Whether many receives end before their sends begin.
  bool LinksDisagree() const {
    std::size_t links = 0;
    std::size_t impossible = 0;
    for (const JointCollective& one : made_.collectives) {
      if (one.family != CommFamily::kPointToPoint || one.parts.size() != kLinkParts) continue;
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
      if (part.start_ns <= one->parts[one->first].start_ns) one->first = i;
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
    one->late_ns = std::min(last_start - MedianOfTimes(std::move(others)), kCallMaxNs);
    one->skew_ns = std::min(last_start - first_start, kCallMaxNs);
    one->transfer_ns = std::max<std::int64_t>(0, first_end - last_start);
    if (one->family == CommFamily::kPointToPoint && one->parts.size() == kLinkParts) {
      MeasureLink(one);
    } else if (last_start - first_end > kClockNoiseNs) {
      ++made_.impossible;
    }
  }

  void AddUp() {
    std::vector<std::vector<bool>> matched(set_.ranks.size());
    for (std::size_t rank = 0; rank < set_.ranks.size(); ++rank)
      matched[rank].resize(set_.ranks[rank].calls.size(), false);
    std::map<CommFamily, FamilyTime> families;
    for (const JointCollective& one : made_.collectives) {
      FamilyTime& family = families[one.family];
      ++family.matched;
      family.shortest_ns += one.shortest_ns;
      for (const JointPart& part : one.parts) {
        const std::int64_t met = part.start_ns + part.wait_ns;
        const bool bubble = one.family == CommFamily::kPointToPoint;
        CommSets& sets = made_.sets[part.rank];
        sets.transfer.push_back({met, part.end_ns});
        (bubble ? sets.bubble : sets.wait).push_back({part.start_ns, met});
        matched[part.rank][part.call] = true;
      }
      CountArrivals(one);
    }
    for (std::size_t rank = 0; rank < set_.ranks.size(); ++rank) {
      AddCalls(rank, matched[rank], &families);
      AddTimes(&made_.sets[rank], &made_.ranks[rank]);
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

  void CountArrivals(const JointCollective& one) {
    if (one.family == CommFamily::kPointToPoint) return;
    for (const JointPart& part : one.parts)
      ++made_.ranks[part.rank].met;
    if (HasLast(made_, one)) ++made_.ranks[one.parts[one.last].rank].came_last;
    if (one.skew_ns <= made_.clock_error_ns) return;
    ++made_.ranks[one.parts[one.first].rank].came_first;
  }

  void AddCalls(std::size_t rank, const std::vector<bool>& matched,
                std::map<CommFamily, FamilyTime>* families) {
    const RankDigest& digest = set_.ranks[rank];
    for (std::size_t i = 0; i < digest.calls.size(); ++i) {
      const CollectiveCall& call = digest.calls[i];
      if (call.left_out) continue;
      const std::int64_t dur = std::min(call.dur_ns, kCallMaxNs);
      FamilyTime& family = (*families)[FamilyOfKind(rank, call.kind)];
      family.by_rank_ns.resize(set_.ranks.size());
      family.by_rank_ns[rank] += dur;
      ++(matched[i] ? made_.ranks[rank].matched : made_.ranks[rank].unmatched);
      if (matched[i]) continue;
      const std::int64_t start = OnCommonClock(set_, made_, rank, call.ts_ns);
      made_.sets[rank].unmatched.push_back({start, start + dur});
    }
  }

  // The sets get disjoint.
  static void AddTimes(CommSets* sets, RankCommTime* time) {
    if (!sets->bubble.empty()) {
      const auto first =
          std::min_element(sets->bubble.begin(), sets->bubble.end(),
                           [](const auto& a, const auto& b) { return a.start < b.start; });
      time->fill_ns = first->end - first->start;
    }
    IntervalSet<std::int64_t> seen;
    const auto add = [&](IntervalSet<std::int64_t>* set, std::int64_t* ns) {
      *set = Subtract(Union(std::move(*set)), seen);
      *ns = Length(*set);
      seen.insert(seen.end(), set->begin(), set->end());
      seen = Union(std::move(seen));
    };
    add(&sets->transfer, &time->transfer_ns);
    add(&sets->wait, &time->wait_ns);
    add(&sets->bubble, &time->bubble_ns);
    add(&sets->unmatched, &time->unmatched_ns);
    time->comm_ns = Length(seen);
    time->fill_ns = std::min(time->fill_ns, time->bubble_ns);
  }

  const RankSet& set_;
  std::vector<std::vector<std::optional<CommFamily>>> families_;  // by rank and kind
  JointTimeline made_;
};

}  // namespace

JointTimeline JoinCollectives(const RankSet& set) {
  return Joiner(set).Run();
}

bool HasLast(const JointTimeline& joint, const JointCollective& one) {
  return one.late_ns > joint.clock_error_ns;
}

std::int64_t OnCommonClock(const RankSet& set, const JointTimeline& joint, std::size_t rank,
                           std::int64_t ns) {
  return FromOrigin(set.ranks[rank], joint.identity.base_ns, joint.origin_ns, ns) +
         joint.clocks[rank].offset_ns;
}

}  // namespace jarvis::analysis
