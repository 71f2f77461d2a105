#include "analysis/ranks/scheduler_tick.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace jarvis::analysis {
namespace {

// Grids on which schedulers act; starts are on one if so many of them lie in two neighbouring bins,
// and so many times more than by chance.
constexpr std::array<std::int64_t, 3> kTicks = {10'000'000, 4'000'000, 1'000'000};
constexpr std::int64_t kTickBinNs = 100'000;
constexpr double kTickShareMin = 0.2;
constexpr double kTickTimesChance = 3;
constexpr std::size_t kTickStartsMin = 30;

}  // namespace

std::optional<std::int64_t> TickOf(const std::vector<std::int64_t>& starts) {
  if (starts.size() < kTickStartsMin) return std::nullopt;
  for (const std::int64_t tick : kTicks) {
    std::vector<std::int64_t> bins(static_cast<std::size_t>(tick / kTickBinNs));
    for (const std::int64_t start : starts)
      ++bins[static_cast<std::size_t>((start % tick + tick) % tick / kTickBinNs)];
    std::int64_t most = 0;
    for (std::size_t i = 0; i < bins.size(); ++i)
      most = std::max(most, bins[i] + bins[(i + 1) % bins.size()]);
    const double share = static_cast<double>(most) / static_cast<double>(starts.size());
    const double by_chance = 2 * static_cast<double>(kTickBinNs) / static_cast<double>(tick);
    if (share < std::max(kTickShareMin, kTickTimesChance * by_chance)) continue;
    return tick;
  }
  return std::nullopt;
}

}  // namespace jarvis::analysis
