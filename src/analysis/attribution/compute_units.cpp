#include "analysis/attribution/compute_units.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "base/text.h"
#include "trace/json_text.h"

namespace jarvis::analysis {
namespace {

constexpr std::size_t kKernelsMax = 2000;
constexpr std::size_t kKernelsLeast = 5;
constexpr double kNearlyAll = 0.95;  // must agree
// The quotient is written with few digits: of small grids on many units it tells little.
constexpr double kOff = 0.01;

std::optional<double> BlocksIn(std::string_view grid) {
  double blocks = 1;
  const std::vector<std::string_view> sizes = trace::ElementsOf(grid);
  if (sizes.size() != 3) return std::nullopt;
  for (const std::string_view size : sizes) {
    const auto number = ParseInt(Trim(size));
    if (!number || *number <= 0) return std::nullopt;
    blocks *= static_cast<double>(*number);
  }
  return blocks;
}

}  // namespace

std::optional<std::int64_t> ComputeUnitsByGrids(const trace::EventStore& events,
                                                std::span<const trace::EventIndex> gpu) {
  std::map<std::int64_t, std::size_t> votes;
  std::size_t looked_at = 0;
  std::size_t all = 0;
  for (const trace::EventIndex e : gpu) {
    if (events[e].kind != trace::EventKind::kKernel) continue;
    if (++looked_at > kKernelsMax) break;
    const StringId other = events.args_of(e).other;
    if (other == kNoString) continue;
    const std::string_view text = events.text(other);
    const auto per_unit = ParseDouble(Trim(trace::MemberOf(text, "blocks per SM")));
    if (!per_unit || !(*per_unit > 0)) continue;
    const auto blocks = BlocksIn(trace::MemberOf(text, "grid"));
    if (!blocks) continue;
    const double units = *blocks / *per_unit;
    if (!(units >= 1 && units < 1e4) || std::abs(units - std::round(units)) > kOff * units)
      continue;
    ++all;
    ++votes[std::llround(units)];
  }
  if (all < kKernelsLeast) return std::nullopt;
  const auto most = std::max_element(
      votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (static_cast<double>(most->second) < kNearlyAll * static_cast<double>(all))
    return std::nullopt;
  return most->first;
}

}  // namespace jarvis::analysis
