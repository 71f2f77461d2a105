// Units of unlike kinds that recur in a fixed order: a request of several passes, of which the last
// one's results are read; steps of which every fourth has the optimizer. What the user waits for is
// then the group, not one of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/frames/frame_facts.h"
#include "analysis/frames/step_finder.h"

namespace jarvis::analysis {

// How likely units of these kinds, in random order, recur with `period` or a shorter one all the
// same: the share of their orders that do. 1 for less than two periods. Pure.
double ChanceOfPeriod(std::span<const std::size_t> kinds, std::size_t period);

// The same steps, those of a whole group together as one; absent: they form none. `lengths_ns`:
// what each takes, all > 0. They form groups where
//  - at least two whole ones of 2 to 32 steps are recorded, one right after the other;
//  - what the steps do recurs exactly with the group: how many ops, frames and launches each has;
//    or how long they take does, and something is called more often, or less, in just the odd ones.
//    Time alone never makes a group: a loader's workers take turns, too;
//  - the odd ones make the time longer or shorter by more than a trifle;
//  - it is no chance: a frame or an annotation stands around each whole group, or the odd ones have
//    the optimizer, or units in random order would hardly ever recur so.
// Iterations and requests that an engine names are units of their own and form none.
std::optional<FoundSteps> GroupSteps(const FrameFacts& facts, const FoundSteps& found,
                                     std::span<const std::int64_t> lengths_ns);

}  // namespace jarvis::analysis
