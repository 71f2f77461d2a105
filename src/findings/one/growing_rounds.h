// Stretches of the host that get longer from round to round: with what was collected so far, or
// with what each round adds.
//
// The sizes are those of joins (`aten::cat`) of what is held with what a round adds, each round's
// rows held being the sum of the round before. The stretches' lengths are regressed on both
// (ordinary least squares of two variables), and the cause is what explains more of them, where its
// partial correlation is at least 0.6. Lengths in ms. Errors: none. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/interval.h"
#include "trace/event_store.h"

namespace jarvis::findings {

enum class GrowthCause : std::uint8_t {
  kUnknown,     // no joins with sizes, or both sizes grow alike
  kCollected,   // all that was collected so far
  kNewResults,  // what the round adds
};

struct GrowingRounds {
  double growth_ms = 0;  // what later ones take beyond the first third of them
  GrowthCause cause = GrowthCause::kUnknown;
  std::string join;  // the op that joins what a round adds; empty: none is known
  std::int64_t fewest_rows = 0, most_rows = 0;  // that a round adds
};

// `stretches`: by time. Absent: they do not grow. They do where their last third is twice as long
// as the first, and of two stretches the later one is mostly the longer (Kendall's rank
// correlation).
std::optional<GrowingRounds> FindGrowth(const trace::EventStore& events,
                                        const IntervalSet<std::int64_t>& stretches);

}  // namespace jarvis::findings
