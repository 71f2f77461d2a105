#include "analysis/ranks/fleet.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "analysis/ranks/fleet_classes.h"
#include "analysis/ranks/fleet_links.h"

namespace jarvis::analysis {
namespace {

// Differences below this share are within what clocks and noise do.
constexpr double kFleetNoise = 0.005;
// Own time between two collectives below this is mostly the distance of two kernels.
constexpr double kOwnTimeMinNs = 20'000;
// A cause has at least this share of what a rank takes longer.
constexpr double kCauseShare = 0.7;
// Exceptions are less than this share of a class; where more are apart they do other work. So do
// all ranks of several hosts, if they are not quite few: a stage of a pipeline is like that.
constexpr double kApartShareMax = 1.0 / 3;
constexpr double kApartHostsShare = 1.0 / 8;
constexpr std::size_t kApartHostsMin = 2;
// More kinds of work than a job has that look the same from outside.
constexpr int kSplitsMax = 8;
// Groups that show at least this share of a rank's excess tell of the same.
constexpr double kSameExcess = 0.7;
// A host is slow if at least this share of its ranks is.
constexpr double kHostShare = 0.75;

// A rank's figures of a step against the medians of its peers.
struct StepRatio {
  double excess = 0;   // of its own time
  double compute = 0;  // of that, more computation; the rest is idle time
};

class FleetFinder {
 public:
  FleetFinder(const RankSet& set, const JointTimeline& joint)
      : set_(set), joint_(joint), ratios_(set.ranks.size()), by_calls_(set.ranks.size()) {}

  FleetFindings Run(std::optional<std::int64_t> ranks_per_host) {
    FindFleetClasses(set_, &fleet_);
    FindFleetHosts(set_, ranks_per_host, &fleet_);
    for (const RankDigest& digest : set_.ranks)
      own_until_.push_back(OwnUntil(digest));
    CompareRanks();
    for (int splits = 0; splits < kSplitsMax && SplitClasses(); ++splits)
      CompareRanks();
    JudgeHosts();
    JudgeRanks();
    CompareFleetLinks(set_, joint_, &fleet_);
    FindOddSteps();
    return std::move(fleet_);
  }

 private:
  void CompareRanks() {
    for (std::size_t rank = 0; rank < fleet_.ranks.size(); ++rank) {
      FleetRank fresh;
      fresh.peers = fleet_.ranks[rank].peers;
      fresh.host = fleet_.ranks[rank].host;
      fleet_.ranks[rank] = fresh;
      ratios_[rank].clear();
      by_calls_[rank].reset();
    }
    fleet_.compared = 0;
    CompareSteps();
    CompareCalls();
    for (FleetClass& peers : fleet_.classes)
      JudgeClass(&peers);
  }

  struct PeerStep {
    std::size_t rank;
    const RankStep* step;
  };

  static double Own(const RankStep& step) {
    return static_cast<double>(step.dur_ns - step.exposed_ns);
  }
  static double Compute(const RankStep& step) { return static_cast<double>(step.compute_ns); }

  template <typename Value>
  static double MedianOver(const std::vector<PeerStep>& of, const Value& value) {
    std::vector<double> values;
    values.reserve(of.size());
    for (const PeerStep& one : of)
      values.push_back(value(*one.step));
    return FleetMedian(std::move(values));
  }

  void CompareSteps() {
    for (const FleetClass& peers : fleet_.classes) {
      std::map<std::int64_t, std::vector<PeerStep>> by_number;
      for (const std::size_t rank : peers.ranks) {
        const RankDigest& digest = set_.ranks[rank];
        if (!digest.steps) continue;
        std::vector<double> own;
        for (const RankStep& step : *digest.steps) {
          by_number[step.number].push_back({rank, &step});
          own.push_back(Own(step));
        }
        if (!own.empty()) fleet_.ranks[rank].own_ns = FleetMedian(std::move(own));
      }
      for (const auto& [number, of] : by_number) {
        if (of.size() < 2) continue;
        const double own = MedianOver(of, Own);
        const double compute = MedianOver(of, Compute);
        if (!(own > 0)) continue;
        for (const PeerStep& one : of) {
          ratios_[one.rank].push_back(
              {Own(*one.step) / own - 1, (Compute(*one.step) - compute) / own});
          fleet_.ranks[one.rank].steps.Add(Own(*one.step) - own);
        }
      }
    }
    fleet_.by_step =
        std::any_of(ratios_.begin(), ratios_.end(), [](const auto& of) { return !of.empty(); });
  }

  // Own time until each call of a rank, by place in RankDigest::calls: all but the time in
  // communication that no computation hides.
  std::vector<double> OwnUntil(const RankDigest& digest) const {
    std::vector<std::size_t> order(digest.calls.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return digest.calls[a].ts_ns < digest.calls[b].ts_ns;
    });
    std::vector<double> own(digest.calls.size());
    std::int64_t last_end = 0;
    double sum = 0;
    bool first = true;
    for (const std::size_t i : order) {
      const CollectiveCall& call = digest.calls[i];
      if (call.left_out) continue;
      const std::int64_t dur = std::min(call.dur_ns, kCallMaxNs);
      if (first) last_end = call.ts_ns;
      first = false;
      sum += static_cast<double>(std::max<std::int64_t>(0, call.ts_ns - last_end));
      own[i] = sum;
      const std::int64_t end = call.ts_ns + dur;
      if (end <= last_end) continue;
      // Of the part that no call before was running in.
      const double alone = static_cast<double>(end - std::max(last_end, call.ts_ns));
      const double covered =
          dur > 0 ? static_cast<double>(call.covered_ns) / static_cast<double>(call.dur_ns) : 0;
      sum += alone * covered;
      last_end = end;
    }
    return own;
  }

  // What a rank's collectives of one group say.
  struct GroupSigns {
    FleetSigns signs;
    double more_ns = 0;
    double usual_ns = 0;

    double excess() const { return more_ns / usual_ns; }
  };

  // By collective: own time since the rank's last one of the same group, which adds up whatever
  // other groups it meets in between.
  void CompareCalls() {
    std::map<std::pair<std::size_t, std::size_t>, double> before;  // by group and rank
    std::map<std::pair<std::size_t, std::size_t>, GroupSigns> signs;
    for (const JointCollective& one : joint_.collectives) {
      std::map<std::size_t, std::vector<std::pair<std::size_t, double>>> by_class;
      for (const JointPart& part : one.parts) {
        const double until = own_until_[part.rank][part.call];
        const auto [last, first] = before.try_emplace({one.group, part.rank}, until);
        if (!first) {
          by_class[fleet_.ranks[part.rank].peers].emplace_back(part.rank, until - last->second);
          last->second = until;
        }
      }
      for (const auto& [peers, of] : by_class)
        CompareCall(one.group, of, &signs);
    }
    std::vector<std::vector<GroupSigns>> by_rank(set_.ranks.size());
    for (const auto& [key, of] : signs) {
      if (of.signs.count() > 0) by_rank[key.second].push_back(of);
    }
    for (std::size_t rank = 0; rank < by_rank.size(); ++rank)
      TakeCalls(rank, by_rank[rank]);
  }

  // A host that is slow as a whole shows in groups that go beyond it alone, a slow rank in all: of
  // the groups that show most, the one that shows it best.
  void TakeCalls(std::size_t rank, const std::vector<GroupSigns>& groups) {
    if (groups.empty()) return;
    double most = groups.front().excess();
    for (const GroupSigns& of : groups)
      most = std::max(most, of.excess());
    FleetRank& made = fleet_.ranks[rank];
    for (const GroupSigns& of : groups) {
      if (of.excess() < (most > 0 ? kSameExcess * most : most)) continue;
      const double chance = std::min(1.0, of.signs.Chance() * static_cast<double>(groups.size()));
      if (by_calls_[rank] && chance >= made.chance) continue;
      made.chance = chance;
      made.calls = of.signs;
      by_calls_[rank] = of.excess();
    }
  }

  static void CompareCall(std::size_t group, const std::vector<std::pair<std::size_t, double>>& of,
                          std::map<std::pair<std::size_t, std::size_t>, GroupSigns>* signs) {
    constexpr std::size_t kPartsMin = 3;  // of two nobody knows which is usual
    if (of.size() < kPartsMin) return;
    std::vector<double> values;
    for (const auto& [rank, ns] : of)
      values.push_back(ns);
    const double usual = FleetMedian(std::move(values));
    if (usual < kOwnTimeMinNs) return;
    for (const auto& [rank, ns] : of) {
      GroupSigns& made = (*signs)[{group, rank}];
      made.signs.Add(ns - usual);
      made.more_ns += ns - usual;
      made.usual_ns += usual;
    }
  }

  void JudgeClass(FleetClass* peers) {
    std::vector<double> values;
    peers->excess.reset();
    for (const std::size_t rank : peers->ranks) {
      FleetRank& of = fleet_.ranks[rank];
      if (!ratios_[rank].empty()) {
        std::vector<double> excesses;
        for (const StepRatio& ratio : ratios_[rank])
          excesses.push_back(ratio.excess);
        of.excess = FleetMedian(std::move(excesses));
        of.chance = std::min(of.chance, of.steps.Chance());
        of.cause = CauseOf(ratios_[rank]);
      } else if (!fleet_.by_step) {
        of.excess = by_calls_[rank];
      }
      if (of.excess) values.push_back(*of.excess);
    }
    if (values.size() < kFleetPeersMin) return;
    fleet_.compared += values.size();
    peers->excess = SpreadOf(values, kFleetNoise);
    for (const std::size_t rank : peers->ranks) {
      FleetRank& of = fleet_.ranks[rank];
      if (!of.excess) continue;
      of.score = peers->excess->ScoreOf(*of.excess);
      of.slow = *of.excess >= kFleetSlowShare && of.score >= kFleetScoreMin;
    }
  }

  // Ranks of a class that take longer but are too many for exceptions; empty: they are few.
  std::vector<std::size_t> ApartOf(const FleetClass& peers) const {
    std::map<std::size_t, bool> whole;  // by host: whether all of its ranks are apart
    std::vector<std::size_t> slow;
    for (const std::size_t rank : peers.ranks) {
      const FleetRank& of = fleet_.ranks[rank];
      if (of.slow) slow.push_back(rank);
      if (!of.host || !of.excess) continue;
      bool& so_far = whole.try_emplace(*of.host, true).first->second;
      so_far = so_far && of.slow;
    }
    const auto all = static_cast<double>(peers.ranks.size());
    std::vector<std::size_t> of_hosts;
    for (const std::size_t rank : slow) {
      const auto& host = fleet_.ranks[rank].host;
      if (host && whole.at(*host)) of_hosts.push_back(rank);
    }
    const auto hosts =
        std::count_if(whole.begin(), whole.end(), [](const auto& of) { return of.second; });
    if (static_cast<std::size_t>(hosts) >= kApartHostsMin &&
        static_cast<double>(of_hosts.size()) >= kApartHostsShare * all)
      return of_hosts;
    if (static_cast<double>(slow.size()) > kApartShareMax * all) return slow;
    return {};
  }

  // Makes classes of their own of ranks that are apart; false: there are none.
  bool SplitClasses() {
    const std::size_t classes = fleet_.classes.size();
    for (std::size_t place = 0; place < classes; ++place) {
      const std::vector<std::size_t> apart = ApartOf(fleet_.classes[place]);
      if (apart.empty()) continue;
      FleetClass made;
      made.apart_from = place;
      std::vector<double> excesses;
      for (const std::size_t rank : apart) {
        excesses.push_back(*fleet_.ranks[rank].excess);
        fleet_.ranks[rank].peers = fleet_.classes.size();
      }
      made.apart_excess = FleetMedian(std::move(excesses));
      made.ranks = apart;
      std::vector<std::size_t> left;
      std::set_difference(fleet_.classes[place].ranks.begin(), fleet_.classes[place].ranks.end(),
                          apart.begin(), apart.end(), std::back_inserter(left));
      fleet_.classes[place].ranks = std::move(left);
      fleet_.classes.push_back(std::move(made));
    }
    return fleet_.classes.size() > classes;
  }

  static FleetCause CauseOf(const std::vector<StepRatio>& ratios) {
    std::vector<double> all;
    std::vector<double> compute;
    for (const StepRatio& ratio : ratios) {
      all.push_back(ratio.excess);
      compute.push_back(ratio.compute);
    }
    const double excess = FleetMedian(std::move(all));
    const double more = FleetMedian(std::move(compute));
    if (!(excess > 0)) return FleetCause::kUnknown;
    if (more >= kCauseShare * excess) return FleetCause::kGpu;
    return more <= (1 - kCauseShare) * excess ? FleetCause::kHost : FleetCause::kBoth;
  }

  // Ranks of a class that is compared.
  bool IsCompared(std::size_t rank) const {
    const FleetRank& of = fleet_.ranks[rank];
    return of.excess && fleet_.classes[of.peers].excess;
  }

  void JudgeHosts() {
    std::vector<double> excesses;
    for (FleetHost& host : fleet_.hosts) {
      std::vector<double> values;
      std::vector<StepRatio> ratios;
      for (const std::size_t rank : host.ranks) {
        if (!IsCompared(rank)) continue;
        const FleetRank& of = fleet_.ranks[rank];
        values.push_back(*of.excess);
        const FleetSigns& signs = fleet_.by_step ? of.steps : of.calls;
        host.steps.above += signs.above;
        host.steps.below += signs.below;
        host.ranks_above += *of.excess > fleet_.classes[of.peers].excess->median ? 1u : 0u;
        ratios.insert(ratios.end(), ratios_[rank].begin(), ratios_[rank].end());
      }
      host.compared = values.size();
      if (values.size() < 2) continue;
      host.excess = FleetMedian(values);
      if (!ratios.empty()) host.cause = CauseOf(ratios);
      host.chance = host.steps.Chance();
      excesses.push_back(*host.excess);
    }
    if (excesses.size() < kFleetHostsMin) return;
    const FleetSpread spread = SpreadOf(excesses, kFleetNoise);
    for (FleetHost& host : fleet_.hosts) {
      if (!host.excess) continue;
      host.score = spread.ScoreOf(*host.excess);
      host.slow =
          *host.excess >= kFleetSlowShare && host.score >= kFleetScoreMin &&
          static_cast<double>(host.ranks_above) >= kHostShare * static_cast<double>(host.compared);
    }
  }

  // A rank of a slow host is told of where it is slow beside its neighbours, too.
  void JudgeRanks() {
    for (FleetRank& of : fleet_.ranks) {
      if (!of.slow || !of.host || !fleet_.hosts[*of.host].slow) continue;
      const double beyond = *of.excess - *fleet_.hosts[*of.host].excess;
      of.slow = beyond >= kFleetSlowShare &&
                beyond >= kFleetScoreMin * fleet_.classes[of.peers].excess->sigma;
    }
  }

  void FindOddSteps() {
    std::map<std::int64_t, std::vector<PeerStep>> by_number;
    for (std::size_t rank = 0; rank < set_.ranks.size(); ++rank) {
      if (!set_.ranks[rank].steps) continue;
      for (const RankStep& step : *set_.ranks[rank].steps)
        by_number[step.number].push_back({rank, &step});
    }
    std::vector<double> durations;
    for (const auto& [number, of] : by_number) {
      FleetStep made;
      made.number = number;
      made.ranks = of.size();
      made.dur_ns = MedianOver(of, [](const RankStep& s) { return static_cast<double>(s.dur_ns); });
      made.own_ns = MedianOver(of, Own);
      made.exposed_ns =
          MedianOver(of, [](const RankStep& s) { return static_cast<double>(s.exposed_ns); });
      FindSlowest(of, &made);
      durations.push_back(made.dur_ns);
      fleet_.steps.push_back(made);
    }
    if (durations.size() < kFleetPeersMin) return;
    const FleetSpread spread =
        SpreadOf(durations, kFleetNoise * std::max(1.0, FleetMedian(durations)));
    for (FleetStep& step : fleet_.steps) {
      step.excess = spread.median > 0 ? step.dur_ns / spread.median - 1 : 0;
      step.score = spread.ScoreOf(step.dur_ns);
      step.odd = step.excess >= kFleetOddStep && step.score >= kFleetScoreMin;
    }
  }

  // The rank whose own time is the longest next to the median of its peers in this step.
  void FindSlowest(const std::vector<PeerStep>& of, FleetStep* made) const {
    std::map<std::size_t, std::vector<double>> own;  // by class
    for (const PeerStep& one : of)
      own[fleet_.ranks[one.rank].peers].push_back(Own(*one.step));
    std::map<std::size_t, double> usual;
    for (auto& [peers, values] : own)
      usual[peers] = FleetMedian(std::move(values));
    bool first = true;
    for (const PeerStep& one : of) {
      const double median = usual[fleet_.ranks[one.rank].peers];
      const double excess = median > 0 ? Own(*one.step) / median - 1 : 0;
      if (!first && excess <= made->slowest_excess) continue;
      made->slowest = one.rank;
      made->slowest_excess = excess;
      first = false;
    }
  }

  const RankSet& set_;
  const JointTimeline& joint_;
  FleetFindings fleet_;
  std::vector<std::vector<double>> own_until_;   // by rank and call
  std::vector<std::vector<StepRatio>> ratios_;   // by rank
  std::vector<std::optional<double>> by_calls_;  // excess by rank
};

}  // namespace

FleetFindings LookAtFleet(const RankSet& set, const JointTimeline& joint,
                          std::optional<std::int64_t> ranks_per_host) {
  if (set.ranks.empty()) return {};
  return FleetFinder(set, joint).Run(ranks_per_host);
}

}  // namespace jarvis::analysis
