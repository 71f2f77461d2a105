#include "analysis/frames/regimes.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "base/median.h"

namespace jarvis::analysis {
namespace {

constexpr double kColdFactor = 2;
constexpr std::size_t kColdMost = 64;   // units of a cold start
constexpr std::size_t kHeadLeast = 5;   // units of a queue-fed head
constexpr std::size_t kAfterHead = 4;   // that must be left behind it
constexpr double kHeadSpread = 0.15;    // of its middle
constexpr double kHeadFirst = 0.5;      // the second may differ more from the first
constexpr double kChangeGain = 0.8;     // of the deviation that is left by a change
constexpr double kChangeStep = 1.25;    // between the middles before and after
constexpr std::size_t kCycleUnits = 8;  // to look for a cycle at all
constexpr std::size_t kCycleMost = 8;   // its length
constexpr double kCycleSpread = 0.15;   // deviation of the middle that a cycle explains
constexpr double kCycleGain = 0.6;      // of that deviation
constexpr std::size_t kFewUnits = 4;
constexpr double kLongFew = 1.1;
constexpr double kLongMany = 1.2;
constexpr double kShort = 0.7;
constexpr std::size_t kChangeLooked = 5'000;  // units between which a change is looked for

using Durations = std::span<const std::int64_t>;

std::int64_t MiddleOf(Durations d) {
  return LowerMedian(std::vector<std::int64_t>(d.begin(), d.end()));
}

double Off(std::int64_t x, std::int64_t middle) {
  return std::abs(static_cast<double>(x - middle));
}

double Deviation(Durations d, std::int64_t middle) {
  return std::accumulate(d.begin(), d.end(), 0.0,
                         [&](double sum, std::int64_t x) { return sum + Off(x, middle); });
}

// Past the units of a cold start.
std::size_t PastCold(Durations d) {
  const auto is_cold = [&](std::size_t at) {
    const std::int64_t later = MiddleOf(d.subspan(at + 1));
    return static_cast<double>(d[at]) > kColdFactor * static_cast<double>(later);
  };
  const std::size_t most = std::min(kColdMost, d.size() - 2);
  std::size_t at = 0;
  while (at < most && is_cold(at))
    ++at;
  return at;
}

// A head whose units are alike and that the rest is unlike.
std::optional<Regimes::Change> EvenHead(Durations d, std::size_t from) {
  if (d.size() - from < kHeadLeast + kAfterHead) return std::nullopt;
  std::size_t past = from + 1;
  while (past < d.size() && past - from < kChangeLooked) {
    const std::int64_t middle = MiddleOf(d.subspan(from, past - from));
    const double spread = past > from + 1 ? kHeadSpread : kHeadFirst;
    if (Off(d[past], middle) > spread * static_cast<double>(middle)) break;
    ++past;
  }
  if (past - from < kHeadLeast || d.size() - past < kAfterHead) return std::nullopt;
  const std::int64_t head = MiddleOf(d.subspan(from, past - from));
  const Durations rest = d.subspan(past);
  const auto alike = std::count_if(rest.begin(), rest.end(), [&](std::int64_t x) {
    return Off(x, head) <= kHeadSpread * static_cast<double>(head);
  });
  if (2 * static_cast<std::size_t>(alike) >= rest.size()) return std::nullopt;
  return Regimes::Change{past, head,
                         std::accumulate(rest.begin(), rest.end(), std::int64_t{0}) /
                             static_cast<std::int64_t>(rest.size())};
}

// The place that leaves the least deviation of both sides from their middles.
std::optional<Regimes::Change> OneChange(Durations d, std::size_t from) {
  constexpr std::size_t kLeast = 6, kSide = 2;
  if (d.size() - from < kLeast || d.size() - from > kChangeLooked) return std::nullopt;
  std::optional<std::pair<double, std::size_t>> best;
  // Of very many units not each place: a change is no sharper than that.
  const std::size_t stride = 1 + (d.size() - from) / 512;
  for (std::size_t at = from + kSide; at + kSide < d.size(); at += stride) {
    const Durations left = d.subspan(from, at - from);
    const Durations right = d.subspan(at);
    const double cost = Deviation(left, MiddleOf(left)) + Deviation(right, MiddleOf(right));
    if (!best || cost < best->first) best = {cost, at};
  }
  if (!best) return std::nullopt;
  const Durations all = d.subspan(from);
  const std::int64_t before = MiddleOf(d.subspan(from, best->second - from));
  const std::int64_t after = MiddleOf(d.subspan(best->second));
  const bool step = static_cast<double>(std::max(before, after)) >
                    kChangeStep * static_cast<double>(std::min(before, after));
  if (!step || best->first >= kChangeGain * Deviation(all, MiddleOf(all))) return std::nullopt;
  return Regimes::Change{best->second, before, after};
}

// The lag at which the durations repeat better than they keep to their middle; 1: none.
std::size_t CycleOf(Durations d) {
  if (d.size() < kCycleUnits) return 1;
  const std::int64_t middle = MiddleOf(d);
  const double spread = Deviation(d, middle) / static_cast<double>(d.size());
  std::pair<double, std::size_t> best{0, 1};
  for (std::size_t lag = 2; lag <= kCycleMost && lag < d.size() / 2 + 1; ++lag) {
    double off = 0;
    for (std::size_t i = lag; i < d.size(); ++i)
      off += Off(d[i], d[i - lag]);
    off /= static_cast<double>(d.size() - lag);
    if (best.second == 1 || off < best.first) best = {off, lag};
  }
  const bool cycles =
      spread > kCycleSpread * static_cast<double>(middle) && best.first < kCycleGain * spread;
  return cycles ? best.second : 1;
}

}  // namespace

Regimes FindRegimes(Durations d) {
  Regimes out;
  if (d.empty()) return out;
  if (d.size() == 1) {
    out.kept = {0};
    return out;
  }
  std::size_t from = PastCold(d);
  out.change = EvenHead(d, from);
  if (!out.change) out.change = OneChange(d, from);
  if (out.change) from = out.change->at;
  const Durations steady = d.subspan(from);
  out.cycle = CycleOf(steady);
  const std::size_t whole = steady.size() / out.cycle * out.cycle;
  if (out.cycle > 1) {
    for (std::size_t i = 0; i < whole; ++i)
      out.kept.push_back(from + i);
    return out;
  }
  const auto middle = static_cast<double>(MiddleOf(steady));
  const double longest = middle * (steady.size() <= kFewUnits ? kLongFew : kLongMany);
  for (std::size_t i = 0; i < steady.size(); ++i) {
    const auto x = static_cast<double>(steady[i]);
    if (x <= longest && x >= kShort * middle) out.kept.push_back(from + i);
  }
  if (2 * out.kept.size() >= steady.size()) return out;
  out.kept.clear();  // never drop the majority
  for (std::size_t i = 0; i < steady.size(); ++i)
    out.kept.push_back(from + i);
  return out;
}

}  // namespace jarvis::analysis
