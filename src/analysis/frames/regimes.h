// Which of a recording's units (steps, iterations, passes) are like each other: what is left after
// a cold start, a queue-fed head, a change of pace and single odd ones are set apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace jarvis::analysis {

struct Regimes {
  // Places of the units that figures are of, ascending; never empty if there are units, and never
  // fewer than half of those behind the last change.
  std::vector<std::size_t> kept;
  // Units per period where durations repeat with one (a loader's workers); 1: they do not. `kept`
  // is then whole periods.
  std::size_t cycle = 1;
  // Units before this place are of another pace (their middle length beside that of those after).
  struct Change {
    std::size_t at;
    std::int64_t before_ns, after_ns;
  };
  std::optional<Change> change;
};

// `durations` in the order of time, all > 0. In this order: cold units at the beginning (longer
// than twice the middle of all later ones); an even head of at least five (a queue that is filled
// already); one change of pace by least absolute deviation; a cycle of 2 to 8; single odd ones
// (longer than 1.1 times the middle, or 1.2 of many, or shorter than 0.7). Pure. O(n^2) in the
// units at worst, of which the first 5,000 are looked at.
Regimes FindRegimes(std::span<const std::int64_t> durations);

}  // namespace jarvis::analysis
