// Memory that a program gives back to the driver and takes again while it runs. Giving back waits
// for the device, and taking may; a caching allocator does neither in a steady step.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "trace/event_store.h"

namespace jarvis::analysis {

struct AllocatorCalls {
  std::vector<trace::EventIndex> calls;  // that give back or take, by begin
  std::size_t rounds = 0;  // times that memory is given back with launches since the last time
  std::size_t taken = 0;   // calls that take memory
  // Of `calls`, those of a cache that was emptied because memory ran short: several in a row give
  // back, after work was launched, and the next takes again, as do those after it. It comes back
  // when memory is short again, so it is nothing that a warm-up does. Sorted.
  std::vector<trace::EventIndex> flushes;
  // Not what a first step does once: it comes back.
  bool Recurs(trace::EventIndex call) const;
  // Rounds of giving back and taking again: none of them is growth, which happens once.
  bool churns() const;
};

// `calls`: runtime calls of the host, any order. Pure; n log n.
AllocatorCalls FindAllocatorCalls(const trace::EventStore& events,
                                  std::span<const trace::EventIndex> calls);

}  // namespace jarvis::analysis
