#include "analysis/ranks/more_work.h"

#include <algorithm>
#include <utility>

#include "base/median.h"

namespace jarvis::analysis {
namespace {

// Work that moved does not move farther than so many collectives of the same ranks.
constexpr std::size_t kEarlierMax = 16;
// ... nor is it looked for beyond so many of any.
constexpr std::size_t kEarlierLookedAt = 128;
// Of what seems to be more before each collective, so much is more in all: then none of it moved.
constexpr double kBacked = 0.6;

std::int64_t UpperMedianOrZero(std::vector<std::int64_t> values) {
  return values.empty() ? 0 : UpperMedian(std::move(values));
}

}  // namespace

MoreWork::MoreWork(const RankSet& set, const JointTimeline& joint) : set_(set), joint_(joint) {
  std::vector<Sums> so_far(set.ranks.size());
  sums_.reserve(joint.collectives.size());
  for (const JointCollective& one : joint.collectives) {
    std::vector<Sums>& made = sums_.emplace_back();
    made.reserve(one.parts.size());
    for (const JointPart& part : one.parts) {
      Sums& of = so_far[part.rank];
      if (const auto& facts = set.ranks[part.rank].facts) {
        const CollectiveArrival& how = facts->arrivals[part.call];
        of.work_ns += how.compute_ns;
        of.beside_ns += std::max<std::int64_t>(0, how.compute_ns - how.busy_ns);
      }
      made.push_back(of);
    }
  }
  Back(so_far);
}

void MoreWork::Back(const std::vector<Sums>& all) {
  std::vector<std::int64_t> seen(all.size()), works;
  seen_.reserve(joint_.collectives.size());
  for (const JointCollective& one : joint_.collectives) {
    seen_.push_back(OfOneCall(one));
    seen[one.parts[one.last].rank] += std::max<std::int64_t>(0, seen_.back());
  }
  for (const Sums& of : all)
    works.push_back(of.work_ns);
  std::sort(works.begin(), works.end());
  backed_.resize(all.size());
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    // The upper median of the others: without its own the list is one shorter.
    const std::int64_t own = all[rank].work_ns;
    const std::size_t middle = (works.size() - 1) / 2;
    const std::size_t at = own <= works[middle] ? middle + 1 : middle;
    const std::int64_t more = at < works.size() && works.size() > 1 ? own - works[at] : own;
    backed_[rank] =
        seen[rank] > 0 && static_cast<double>(more) >= kBacked * static_cast<double>(seen[rank]);
  }
}

std::int64_t MoreWork::OfOneCall(const JointCollective& one) const {
  const auto more = [&](std::int64_t CollectiveArrival::*work) {
    std::vector<std::int64_t> others;
    std::int64_t own = 0;
    for (std::size_t i = 0; i < one.parts.size(); ++i) {
      const auto& facts = set_.ranks[one.parts[i].rank].facts;
      if (!facts) continue;
      const std::int64_t ns = facts->arrivals[one.parts[i].call].*work;
      if (i == one.last) {
        own = ns;
      } else {
        others.push_back(ns);
      }
    }
    return own - UpperMedianOrZero(std::move(others));
  };
  return std::min(more(&CollectiveArrival::busy_ns), more(&CollectiveArrival::compute_ns));
}

bool MoreWork::SameRanks(std::size_t one, std::size_t other) const {
  const auto& a = joint_.collectives[one].parts;
  const auto& b = joint_.collectives[other].parts;
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const JointPart& x, const JointPart& y) { return x.rank == y.rank; });
}

MoreWork::Surplus MoreWork::Since(std::size_t earlier, std::size_t which) const {
  const JointCollective& one = joint_.collectives[which];
  std::vector<std::int64_t> work;
  std::vector<std::int64_t> beside;
  std::int64_t own = 0;
  for (std::size_t i = 0; i < one.parts.size(); ++i) {
    if (!set_.ranks[one.parts[i].rank].facts) continue;
    const Sums& from = sums_[earlier][i];
    const Sums& to = sums_[which][i];
    if (i == one.last) {
      own = to.work_ns - from.work_ns;
    } else {
      work.push_back(to.work_ns - from.work_ns);
      beside.push_back(to.beside_ns - from.beside_ns);
    }
  }
  return {own - UpperMedianOrZero(std::move(work)), UpperMedianOrZero(std::move(beside))};
}

WorkSurplus MoreWork::Before(std::size_t which) const {
  const JointCollective& one = joint_.collectives[which];
  const std::int64_t seen = seen_[which];
  if (backed_[one.parts[one.last].rank]) return {seen, 0};
  std::int64_t more = seen;
  std::size_t looked_at = 0;
  for (std::size_t earlier = which, taken = 0; earlier > 0 && more > 0 && taken < kEarlierMax;) {
    if (++looked_at > kEarlierLookedAt) break;
    if (!SameRanks(--earlier, which)) continue;
    ++taken;
    const Surplus since = Since(earlier, which);
    // What the others did beside their calls, and no more, may have moved to before them.
    more = std::min(more, std::max(since.more_ns, seen - since.beside_ns));
  }
  return {more, std::max<std::int64_t>(0, seen - more)};
}

}  // namespace jarvis::analysis
