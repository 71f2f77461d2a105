#include "analysis/ranks/call_order.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <tuple>

#include "analysis/ranks/collective_identity.h"
#include "base/median.h"

namespace jarvis::analysis {
namespace {

using Calls = std::vector<OrderedCall>;
using Fits = std::function<bool(const OrderedCall&, const OrderedCall&)>;
using Places = std::vector<std::pair<std::size_t, std::size_t>>;

// How far the stretches that two ranks recorded may be apart, in calls.
constexpr std::int64_t kShiftMax = 64;

// How badly calls fit if `calls` lies `shift` later than `reference`: calls that differ or have no
// partner where they could have one; then how far the ends' differences scatter, in steps that
// double; then whether the clocks disagree.
using Misfit = std::tuple<std::int64_t, int, bool>;

Misfit MisfitOf(const Calls& reference, const Calls& calls, std::int64_t shift, const Fits& fits) {
  const auto longest = static_cast<std::int64_t>(reference.size());
  std::int64_t differ = 0;
  std::vector<std::int64_t> differences;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::int64_t at = static_cast<std::int64_t>(i) + shift;
    if (at < 0 || at >= longest) continue;
    const OrderedCall& one = reference[static_cast<std::size_t>(at)];
    if (!fits(one, calls[i])) ++differ;
    differences.push_back(one.end - calls[i].end);
  }
  const std::size_t possible = std::min(reference.size(), calls.size());
  if (differences.empty() || differences.size() * 2 < possible)
    return {std::numeric_limits<std::int64_t>::max(), 0, false};
  differ += static_cast<std::int64_t>(possible - differences.size());
  const std::int64_t median = MedianOfTimes(differences);
  for (std::int64_t& one : differences)
    one = std::abs(one - median);
  const std::int64_t distance = MedianOfTimes(std::move(differences));
  int scatter = 0;
  for (std::int64_t limit = kEndsAgreeNs * 4; limit < distance; limit *= 2)
    ++scatter;
  return {differ, scatter, std::abs(median) > kEndsAgreeNs * 4};
}

std::int64_t BestShift(const Calls& reference, const Calls& calls, const Fits& fits) {
  const auto from_end =
      static_cast<std::int64_t>(reference.size()) - static_cast<std::int64_t>(calls.size());
  std::int64_t best_shift = 0;
  Misfit best = MisfitOf(reference, calls, 0, fits);
  const auto attempt = [&](std::int64_t shift) {
    const Misfit misfit = MisfitOf(reference, calls, shift, fits);
    if (misfit < best) std::tie(best, best_shift) = std::tuple(misfit, shift);
  };
  if (std::get<0>(best) == 0 && from_end == 0) return 0;
  attempt(from_end);
  for (std::int64_t distance = 1; distance <= kShiftMax; ++distance) {
    attempt(distance);
    attempt(-distance);
  }
  return best_shift;
}

// By who overlaps with whom.
template <typename Apart>
Places PairByTime(const Calls& reference, const Calls& calls, const Apart& apart) {
  Places pairs;
  std::size_t a = 0;
  std::size_t b = 0;
  const auto meet = [&](std::size_t i, std::size_t j) {
    return i < reference.size() && j < calls.size() &&
           FamiliesFit(reference[i].family, calls[j].family) && apart(i, j) <= kEndsAgreeNs;
  };
  while (a < reference.size() && b < calls.size()) {
    bool found = false;
    for (std::size_t distance = 0; distance <= kShiftMax && !found; ++distance) {
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

}  // namespace

bool FamiliesFit(CommFamily a, CommFamily b) {
  return a == b || a == CommFamily::kOther || b == CommFamily::kOther;
}

CallPairs InOrder(std::size_t calls) {
  CallPairs pairs;
  for (std::size_t i = 0; i < calls; ++i)
    pairs.places.emplace_back(i, i);
  return pairs;
}

CallPairs PairCalls(const Calls& reference, const Calls& calls, const Fits& fits) {
  CallPairs pairs;
  pairs.shift = BestShift(reference, calls, fits);
  std::vector<std::int64_t> differences;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::int64_t at = static_cast<std::int64_t>(i) + pairs.shift;
    if (at < 0 || at >= static_cast<std::int64_t>(reference.size())) continue;
    const OrderedCall& one = reference[static_cast<std::size_t>(at)];
    if (!FamiliesFit(one.family, calls[i].family)) continue;
    pairs.places.emplace_back(static_cast<std::size_t>(at), i);
    differences.push_back(one.end - calls[i].end);
  }
  if (differences.empty()) return pairs;
  const std::int64_t offset = MedianOfTimes(std::move(differences));
  const auto apart = [&](std::size_t a, std::size_t b) {
    const OrderedCall& one = reference[a];
    const OrderedCall& other = calls[b];
    return std::max<std::int64_t>(
        0, std::max(one.start, other.start + offset) - std::min(one.end, other.end + offset));
  };
  const auto wrong = std::count_if(pairs.places.begin(), pairs.places.end(), [&](const auto& p) {
    return apart(p.first, p.second) > kEndsAgreeNs;
  });
  const auto all = static_cast<std::ptrdiff_t>(pairs.places.size());
  if (static_cast<double>(wrong) <= kDoubtfulShare * static_cast<double>(all)) return pairs;
  Places walked = PairByTime(reference, calls, apart);
  if (static_cast<std::ptrdiff_t>(walked.size()) > all - wrong) return {std::move(walked), 0};
  return pairs;
}

}  // namespace jarvis::analysis
