#include "analysis/ranks/lone_rank.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/ranks/collective_sizes.h"
#include "analysis/ranks/point_to_point.h"
#include "base/median.h"

namespace jarvis::analysis {
namespace {

// A message so small is there in microseconds; one that takes so much longer is waited for.
constexpr std::int64_t kTinyBytes = 65'536;
constexpr std::int64_t kTinyUsualNs = 30'000;
constexpr std::int64_t kTinyLongNs = 100'000;
// Calls of one size whose longest takes so many times the shortest do not differ by transfer.
constexpr std::int64_t kSpreadTimes = 2;
constexpr std::int64_t kSpreadCallsMin = 3;
// So many calls tell what a tenth of them take.
constexpr std::size_t kVaryingMin = 20;
// A first call that takes so many times the median pays for setting up.
constexpr std::int64_t kFirstTimes = 3;
// Less than this share of all communication is not worth a sign.
constexpr double kExcessShare = 0.02;
// Sizes apart by this factor or more, times by less than the square root of the sizes' ratio.
constexpr double kSizesApart = 2;

// More sizes than a program has on purpose: nothing is compared.
constexpr std::size_t kComparedMax = 1000;

// Of what equal calls have in common; the last: they receive from one rank.
using LoneKey = std::tuple<CommFamily, std::string, std::optional<std::int64_t>, Cell, Cell, bool>;
// Start and duration.
using LoneCall = std::pair<std::int64_t, std::int64_t>;

LoneKey LoneKeyOf(const CollectiveKind& kind) {
  const CommFamily family = FamilyOf(kind);
  const auto* group = std::get_if<std::string>(&kind.known[kGroup]);
  const auto bytes = CollectiveBytes(kind.known);
  // Calls that record neither are alike by their kernel: dispatch and combine are not.
  return {family,
          group != nullptr ? *group
          : bytes          ? std::string()
                           : kind.kernel,
          bytes,
          kind.known[kDtype],
          kind.known[kGroupSize],
          family == CommFamily::kPointToPoint && IsReceive(kind)};
}

LoneKind MeasureLone(CommFamily family, std::optional<std::int64_t> bytes,
                     std::vector<LoneCall> calls) {
  std::sort(calls.begin(), calls.end());
  std::vector<std::int64_t> durations;
  for (const auto& [start, dur] : calls)
    durations.push_back(dur);
  const std::int64_t first = durations.front();
  LoneKind kind;
  kind.family = family;
  kind.bytes = bytes;
  std::sort(durations.begin(), durations.end());
  kind.calls = static_cast<std::int64_t>(durations.size());
  kind.shortest_ns = durations.front();
  kind.median_ns = durations[durations.size() / 2];
  kind.longest_ns = durations.back();
  const bool varies = !bytes && durations.size() >= kVaryingMin;
  kind.transfer_ns = durations[varies ? durations.size() / 10 : 0];
  for (const std::int64_t one : durations) {
    kind.total_ns += one;
    kind.waiting_ns += std::max<std::int64_t>(0, one - kind.transfer_ns);
  }
  // A stage of a pipeline waits for the one before, and all ranks for the last at a barrier.
  if (!bytes || family == CommFamily::kPointToPoint || family == CommFamily::kBarrier) return kind;
  if (*bytes <= kTinyBytes && kind.median_ns >= kTinyLongNs) {
    kind.sign = WaitSign::kTiny;
    kind.excess_ns = kind.total_ns - kind.calls * kTinyUsualNs;
  } else if (kind.calls >= kSpreadCallsMin && first >= kTinyLongNs && first == kind.longest_ns &&
             first / kFirstTimes >= kind.median_ns) {
    kind.sign = WaitSign::kFirst;
    kind.excess_ns = first - kind.median_ns;
  } else if (kind.calls >= kSpreadCallsMin && kind.longest_ns / kSpreadTimes >= kind.shortest_ns) {
    kind.sign = WaitSign::kSpread;
    kind.excess_ns = kind.total_ns - kind.calls * kind.shortest_ns;
  }
  return kind;
}

// An exchange may be two kernels of one name, one that sends and one that waits to receive: where
// every other call takes so many times as long, they are two kinds. Empty: they are one.
std::vector<LoneCall> TakeHalves(std::vector<LoneCall>* calls) {
  constexpr std::size_t kLeast = 8;
  constexpr std::int64_t kTimes = 2;
  if (calls->size() < kLeast) return {};
  std::sort(calls->begin(), calls->end());
  std::vector<LoneCall> halves[2];
  for (std::size_t i = 0; i < calls->size(); ++i)
    halves[i % 2].push_back((*calls)[i]);
  const auto middle = [](const std::vector<LoneCall>& half) {
    std::vector<std::int64_t> durations;
    for (const auto& [start, dur] : half)
      durations.push_back(dur);
    return LowerMedian(std::move(durations));
  };
  const auto [low, high] = std::minmax({middle(halves[0]), middle(halves[1])});
  if (high < kTimes * low) return {};
  *calls = std::move(halves[0]);
  return std::move(halves[1]);
}

// Of two sizes of one family the larger moves its bytes faster, so the smaller could have as well.
void CompareSizes(std::vector<LoneKind>* kinds) {
  if (kinds->size() > kComparedMax) return;
  for (LoneKind& small : *kinds) {
    if (small.sign || !small.bytes || *small.bytes <= kTinyBytes) continue;
    for (const LoneKind& large : *kinds) {
      if (large.family != small.family || !large.bytes) continue;
      const double sizes = static_cast<double>(*large.bytes) / static_cast<double>(*small.bytes);
      const double times = static_cast<double>(large.median_ns) /
                           static_cast<double>(std::max<std::int64_t>(1, small.median_ns));
      if (sizes < kSizesApart || times * times >= sizes) continue;
      const auto by_rate = static_cast<std::int64_t>(static_cast<double>(large.median_ns) / sizes);
      const std::int64_t excess = (small.median_ns - by_rate) * small.calls;
      if (excess <= small.excess_ns) continue;
      small.sign = WaitSign::kSizeBlind;
      small.excess_ns = excess;
      small.twin_bytes = large.bytes;
      small.twin_ns = large.median_ns;
    }
  }
}

}  // namespace

std::vector<LoneKind> LookAtLoneRank(const RankDigest& digest) {
  constexpr std::int64_t kLongestNs = 3'600'000'000'000;  // sums of a digest stay within the type
  std::map<LoneKey, std::vector<LoneCall>> calls;
  std::vector<std::vector<LoneCall>*> of_kind(digest.kinds.size());
  for (const CollectiveCall& call : digest.calls) {
    if (call.left_out) continue;
    std::vector<LoneCall>*& of = of_kind[call.kind];
    if (of == nullptr) of = &calls[LoneKeyOf(digest.kinds[call.kind])];
    of->emplace_back(call.ts_ns, std::min(call.dur_ns, kLongestNs));
  }
  std::vector<LoneKind> kinds;
  double all = 0;
  std::vector<std::pair<LoneKey, std::vector<LoneCall>>> all_calls;
  for (auto& [key, of] : calls) {
    const bool exchange = std::get<0>(key) == CommFamily::kExchange && !std::get<2>(key);
    std::vector<LoneCall> other = exchange ? TakeHalves(&of) : std::vector<LoneCall>();
    if (!other.empty()) all_calls.emplace_back(key, std::move(other));
    all_calls.emplace_back(key, std::move(of));
  }
  for (auto& [key, of] : all_calls) {
    LoneKind kind = MeasureLone(std::get<0>(key), std::get<2>(key), std::move(of));
    const auto size = RecordedNumber(std::get<4>(key));
    const auto factor = size ? BusFactor(kind.family, *size) : std::nullopt;
    // A receive may be no more than a copy out of a buffer.
    const bool receives = std::get<5>(key);
    if (factor && !receives && kind.bytes && kind.shortest_ns > 0) {
      kind.bus_gb_s =
          *factor * static_cast<double>(*kind.bytes) / static_cast<double>(kind.shortest_ns);
    }
    all += static_cast<double>(kind.total_ns);
    kinds.push_back(std::move(kind));
  }
  CompareSizes(&kinds);
  for (LoneKind& kind : kinds) {
    if (static_cast<double>(kind.excess_ns) >= kExcessShare * all) continue;
    kind.sign.reset();
    kind.excess_ns = 0;
  }
  std::stable_sort(kinds.begin(), kinds.end(), [](const LoneKind& a, const LoneKind& b) {
    return std::tuple(-a.excess_ns, -a.total_ns) < std::tuple(-b.excess_ns, -b.total_ns);
  });
  return kinds;
}

}  // namespace jarvis::analysis
