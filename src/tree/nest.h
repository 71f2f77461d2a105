// Nesting of one thread's events by time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/event_store.h"

namespace jarvis::tree {

// How many events may stand around each other. Calls nested deeper stand side by side on the last
// level, so that what goes outward through callers, or adds up what is below each, stays linear in
// the events. Programs do not come near: CPython allows a thousand frames, recordings have
// hundreds.
inline constexpr std::size_t kLevelsMax = 512;

// Sorts host events of one thread so that each comes after what encloses it.
void SortForNesting(const trace::EventStore& events, std::vector<trace::EventIndex>* thread);

// `sorted`: as SortForNesting leaves it, standing at place `base` of the preorder list.
// Writes parent (by event) and subtree_end (by position, absolute).
void NestThread(const trace::EventStore& events, std::span<const trace::EventIndex> sorted,
                std::uint32_t base, trace::EventIndex* parent, std::uint32_t* subtree_end);

}  // namespace jarvis::tree
