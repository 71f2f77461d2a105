// What a collective moves, as far as its call says.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/attribution/collective_kernel.h"

namespace jarvis::analysis {

// The larger of what goes in and what comes out; absent: not recorded.
std::optional<std::int64_t> CollectiveBytes(const CollectiveKeys& keys);

// What each byte of a message is to a rank's link, of a group of `size` ranks; absent: depends on
// more than that.
std::optional<double> BusFactor(CommFamily family, double size);

// Whether a rank sends to or receives from one other: its name says so, and that it is no
// all_to_all.
bool IsHandOver(const CollectiveKeys& keys);

}  // namespace jarvis::analysis
