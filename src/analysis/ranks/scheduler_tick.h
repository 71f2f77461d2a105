// Whether instants lie on a grid on which schedulers act.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace jarvis::analysis {

// The grid; absent: too few starts, or on none.
std::optional<std::int64_t> TickOf(const std::vector<std::int64_t>& starts);

}  // namespace jarvis::analysis
