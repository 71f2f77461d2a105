#include "analysis/ranks/shared_loss.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/median.h"

namespace jarvis::analysis {
namespace {

constexpr std::size_t kStandingRanksMin = 3;
// One count holds for so much of the time, and for so many times more of it than where each process
// stands still whatever the others do.
constexpr double kStandingShare = 0.6;
constexpr double kStandingTimesChance = 1.5;
// Pieces end together within this.
constexpr std::int64_t kTogetherNs = 50'000;
// Processes were waiting where so many of their pieces end together with half of the others'.
constexpr double kTogetherShare = 0.25;
// Losses are alike up to this.
constexpr double kAlikeLoss = 1.25;
// What a host has more to do does not explain a rank by less than this share of what it takes
// longer.
constexpr double kOwnShareMax = 0.5;

double Binomial(std::size_t k, std::size_t n, double p) {
  if (p <= 0 || p >= 1) return 1;
  const auto all = static_cast<double>(n);
  const auto some = static_cast<double>(k);
  // std::lgamma writes a global, which threads share.
  const auto log_factorial = [](double of) {
    int sign = 0;
    return ::lgamma_r(of + 1, &sign);
  };
  return std::exp(log_factorial(all) - log_factorial(some) - log_factorial(all - some) +
                  some * std::log(p) + (all - some) * std::log1p(-p));
}

// Of all pieces, how many end while those of half the other processes do.
double ShareEndingTogether(const std::vector<IntervalSet<std::int64_t>>& standing) {
  std::size_t together = 0;
  std::size_t all = 0;
  for (std::size_t own = 0; own < standing.size(); ++own) {
    for (const auto& piece : standing[own]) {
      std::size_t others = 0;
      for (std::size_t other = 0; other < standing.size(); ++other) {
        if (other == own) continue;
        const auto& pieces = standing[other];
        const auto at = std::lower_bound(
            pieces.begin(), pieces.end(), piece.end - kTogetherNs,
            [](const Interval<std::int64_t>& one, std::int64_t ns) { return one.end < ns; });
        others += at != pieces.end() && at->end <= piece.end + kTogetherNs ? 1U : 0U;
      }
      ++all;
      together += 2 * others >= standing.size() - 1 ? 1U : 0U;
    }
  }
  return all == 0 ? 0 : static_cast<double>(together) / static_cast<double>(all);
}

// What a host worked: neither lost nor spent in calls that wait for the GPU.
std::int64_t WorkOfHost(const RankSet& set, const JobStory& story, std::size_t rank) {
  const auto& facts = set.ranks[rank].facts;
  const RankStory& of = story.ranks[rank];
  return of.host_ns - of.starved_ns - (facts ? facts->wait_ns : 0);
}

}  // namespace

std::optional<StandingStill> CountStanding(const std::vector<IntervalSet<std::int64_t>>& standing,
                                           Interval<std::int64_t> within) {
  const std::size_t processes = standing.size();
  if (processes < kStandingRanksMin || within.end <= within.start) return std::nullopt;
  std::vector<std::pair<std::int64_t, int>> changes;
  for (const auto& pieces : standing) {
    for (const auto& piece : pieces) {
      const std::int64_t start = std::max(piece.start, within.start);
      const std::int64_t end = std::min(piece.end, within.end);
      if (start >= end) continue;
      changes.emplace_back(start, 1);
      changes.emplace_back(end, -1);
    }
  }
  std::sort(changes.begin(), changes.end());
  std::vector<std::int64_t> time(processes + 1);
  std::int64_t at = within.start;
  int still = 0;
  for (const auto& [ns, change] : changes) {
    time[static_cast<std::size_t>(still)] += ns - at;
    at = ns;
    still += change;
  }
  time[static_cast<std::size_t>(still)] += within.end - at;
  const auto most =
      static_cast<std::size_t>(std::max_element(time.begin(), time.end()) - time.begin());
  if (most == 0 || most == processes) return std::nullopt;
  const auto whole = static_cast<double>(within.end - within.start);
  double mean = 0;
  for (std::size_t k = 0; k <= processes; ++k)
    mean += static_cast<double>(k) * static_cast<double>(time[k]) / whole;
  const double share = static_cast<double>(time[most]) / whole;
  const double chance = Binomial(most, processes, mean / static_cast<double>(processes));
  if (share < std::max(kStandingShare, kStandingTimesChance * chance)) return std::nullopt;
  if (ShareEndingTogether(standing) >= kTogetherShare) return std::nullopt;
  return StandingStill{most, processes, share};
}

void ForgiveSharedLoss(const RankSet& set, const JobStory& story, FleetFindings* fleet) {
  if (story.ranks.empty() || story.starved_ranks < story.ranks.size()) return;
  std::vector<std::int64_t> losses;
  std::vector<std::int64_t> works;
  for (std::size_t rank = 0; rank < story.ranks.size(); ++rank) {
    losses.push_back(story.ranks[rank].starved_ns);
    works.push_back(WorkOfHost(set, story, rank));
  }
  const double loss = static_cast<double>(MedianOfTimes(losses));
  const std::int64_t work = MedianOfTimes(works);
  const auto alike = [&](std::size_t rank) {
    return static_cast<double>(losses[rank]) <= kAlikeLoss * loss;
  };
  const auto explained = [](FleetCause cause) {
    return cause == FleetCause::kHost || cause == FleetCause::kUnknown;
  };
  for (std::size_t rank = 0; rank < fleet->ranks.size(); ++rank) {
    FleetRank& of = fleet->ranks[rank];
    if (!of.slow || !explained(of.cause) || !alike(rank)) continue;
    const double own = of.own_ns.value_or(0);
    const double longer = own * *of.excess / (1 + *of.excess);
    if (static_cast<double>(works[rank] - work) > kOwnShareMax * longer) continue;
    of.slow = false;
    of.shared_loss = true;
  }
  for (FleetHost& host : fleet->hosts) {
    host.slow = host.slow && (!explained(host.cause) ||
                              !std::all_of(host.ranks.begin(), host.ranks.end(), alike));
  }
}

}  // namespace jarvis::analysis
