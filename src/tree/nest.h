// Nesting of one thread's events by time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/event_store.h"

namespace jarvis::tree {

// Sorts host events of one thread so that each comes after what encloses it.
void SortForNesting(const trace::EventStore& events, std::vector<trace::EventIndex>* thread);

// `sorted`: as SortForNesting leaves it, standing at place `base` of the preorder list.
// Writes parent (by event) and subtree_end (by position, absolute).
void NestThread(const trace::EventStore& events, std::span<const trace::EventIndex> sorted,
                std::uint32_t base, trace::EventIndex* parent, std::uint32_t* subtree_end);

}  // namespace jarvis::tree
