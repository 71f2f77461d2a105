// How much of each piece of GPU work ran alone: only that can shorten a step when it gets faster.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/event_store.h"

namespace jarvis::findings {

// Of each of `groups` sets of GPU events: the time, in microseconds, in which work of that set ran
// and no other work did. `owner`: by place in `work`, the set, or kNoOwner (it still counts as
// other work).
inline constexpr std::uint32_t kNoOwner = 0xFFFFFFFFu;
std::vector<double> ExclusiveUs(const trace::EventStore& events,
                                std::span<const trace::EventIndex> work,
                                std::span<const std::uint32_t> owner, std::size_t groups);

}  // namespace jarvis::findings
