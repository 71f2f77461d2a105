#include "documents/comparative_phases.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/number_text.h"
#include "documents/markdown_text.h"

namespace jarvis::documents {
namespace {

// What no row of the table has of each side, so that the rows add up to the unit; empty: nothing.
// A phase that begins before the one before it ends shares its time with that.
std::string RestName(const findings::PairPhase& rest) {
  const double all[2] = {rest.busy_ms[0] + rest.idle_ms[0], rest.busy_ms[1] + rest.idle_ms[1]};
  if (all[0] == 0 && all[1] == 0) return {};
  if (std::min(all[0], all[1]) >= 0) return "in none of these";
  return std::max(all[0], all[1]) <= 0 ? "in two of these at once" : "in none, less in two at once";
}

}  // namespace

std::string PhaseRowsOf(const ComparativeFacts& facts) {
  return facts.pair.phases.by_order ? "wall time" : "GPU time";
}

std::vector<PhaseRow> PairPhaseRows(const ComparativeFacts& facts) {
  constexpr double kShown = 0.005;      // of the unit
  constexpr double kRounding = 0.0005;  // less is none
  std::vector<PhaseRow> rows;
  if (!facts.pair.comparable() || facts.comparability().verdict == "same file") return rows;
  const findings::Balance& balance = facts.pair.balance;
  // What no row has: the difference of the rows adds up to that of the unit.
  findings::PairPhase rest;
  for (int i = 0; i < 2; ++i) {
    rest.idle_ms[i] = balance.idle_ms[i];
    rest.busy_ms[i] = balance.ms[i] - balance.idle_ms[i];
  }
  const auto add = [&](const findings::PairPhase& phase, const std::string& name) {
    const double all[2] = {phase.busy_ms[0] + phase.idle_ms[0],
                           phase.busy_ms[1] + phase.idle_ms[1]};
    const auto cell = [&](int side) {
      return fmt::format("{} ({} + {})", Ms(all[side]), Digits(phase.busy_ms[side]),
                         Digits(phase.idle_ms[side]));
    };
    rows.push_back({name, cell(1), cell(0), SignedMs(all[0] - all[1])});
  };
  for (const findings::PairPhase& phase : facts.pair.phases.phases) {
    const double most =
        std::max(phase.busy_ms[0] + phase.idle_ms[0], phase.busy_ms[1] + phase.idle_ms[1]);
    if (most < kShown * balance.ms[0]) continue;
    add(phase, Md(phase.name, 60));
    for (int i = 0; i < 2; ++i) {
      rest.busy_ms[i] -= phase.busy_ms[i];
      rest.idle_ms[i] -= phase.idle_ms[i];
    }
  }
  if (rows.size() < 2) return {};
  for (int i = 0; i < 2; ++i) {
    for (double* part : {&rest.busy_ms[i], &rest.idle_ms[i]}) {
      if (std::abs(*part) < kRounding * balance.ms[i]) *part = 0;
    }
  }
  if (const std::string name = RestName(rest); !name.empty()) add(rest, name);
  return rows;
}

}  // namespace jarvis::documents
