#include "findings/one/equal_calls.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "analysis/ranks/lone_rank.h"
#include "analysis/ranks/rank_digest.h"
#include "analysis/ranks/rank_set.h"
#include "base/number_text.h"

namespace jarvis::findings {
namespace {

std::string Micros(std::int64_t ns) {
  return ThreeDigits(static_cast<double>(ns) / 1000) + " µs";
}

bool IsSpread(const analysis::LoneKind& kind) {
  constexpr std::int64_t kManyCalls = 20, kFar = 5;
  if (kind.bytes)
    return kind.sign == analysis::WaitSign::kSpread && 2 * kind.excess_ns > kind.total_ns;
  if (kind.calls < kManyCalls) return false;
  // One kernel that sends tokens to experts has as many to send in each layer.
  if (kind.family == analysis::CommFamily::kExchange)
    return 2 * kind.calls * kind.shortest_ns < kind.total_ns;
  // Other sizes that are not recorded differ less than that.
  return kind.median_ns >= kFar * kind.shortest_ns;
}

// A barrier moves nothing, and stages of a pipeline wait for one another in equal steps.
bool MovesEqually(const analysis::LoneKind& kind) {
  constexpr std::int64_t kLeastCalls = 8;
  return kind.calls >= kLeastCalls && kind.shortest_ns > 0 &&
         kind.family != analysis::CommFamily::kBarrier &&
         kind.family != analysis::CommFamily::kPointToPoint;
}

std::vector<analysis::LoneKind> KindsOf(const session::LoadedTrace& trace) {
  Job job;
  const auto digests = analysis::DigestCollectives(trace.trace(), trace.tree(), job);
  if (!digests || digests->size() != 1) return {};
  return analysis::LookAtLoneRank(digests->front());
}

}  // namespace

std::optional<double> WaitingMs(const session::LoadedTrace& trace) {
  std::int64_t waiting_ns = 0;
  const std::vector<analysis::LoneKind> kinds = KindsOf(trace);
  const auto waits = [](const analysis::LoneKind& kind) {
    return MovesEqually(kind) && IsSpread(kind);
  };
  for (const analysis::LoneKind& kind : kinds) {
    // Where one way of an exchange waits for late ranks, so does the other.
    const bool both =
        MovesEqually(kind) && std::ranges::any_of(kinds, [&](const analysis::LoneKind& other) {
          return other.family == kind.family && waits(other);
        });
    if (both) waiting_ns += kind.waiting_ns;
  }
  if (waiting_ns <= 0) return std::nullopt;
  return static_cast<double>(waiting_ns) / 1e6;
}

std::optional<std::string> EqualCallsText(const session::LoadedTrace& trace) {
  constexpr double kAlike = 1.25;  // median over shortest
  constexpr double kOutstands = 3;
  const std::vector<analysis::LoneKind> kinds = KindsOf(trace);
  const auto most = std::max_element(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) {
    return a.total_ns < b.total_ns;
  });
  if (most == kinds.end() || !MovesEqually(*most)) return std::nullopt;
  if (IsSpread(*most)) {
    // How many tokens an expert's rank is sent differs from call to call.
    const bool differ = !most->bytes && most->family == analysis::CommFamily::kExchange;
    return fmt::format(
        "{} calls of {}{} take {} to {}, median {}: time above {} is {}waiting for other ranks "
        "[inferred]{}",
        most->calls, analysis::CommFamilyName(most->family), differ ? "" : " of one size",
        Micros(most->shortest_ns), Micros(most->longest_ns), Micros(most->median_ns),
        Micros(most->transfer_ns), differ ? "more data or " : "",
        differ ? ", which one rank does not tell apart: sizes are not recorded."
               : "; one rank cannot show for which of them.");
  }
  const auto median = static_cast<double>(most->median_ns);
  if (median > kAlike * static_cast<double>(most->shortest_ns)) return std::nullopt;
  const std::string rate =
      most->bus_gb_s ? fmt::format(" ({} GB/s on the bus)", ThreeDigits(*most->bus_gb_s)) : "";
  const std::string outstanding =
      static_cast<double>(most->longest_ns) > kOutstands * median
          ? fmt::format(" One call of {} stands out: it waited for another rank [inferred].",
                        Micros(most->longest_ns))
          : "";
  return fmt::format(
      "{} calls of {} of one size take nearly the same time (shortest {}, median {}), so this is "
      "transfer{}, not waiting.{}",
      most->calls, analysis::CommFamilyName(most->family), Micros(most->shortest_ns),
      Micros(most->median_ns), rate, outstanding);
}

}  // namespace jarvis::findings
