// A launching thread that stands still in Python: a silent stretch between two calls, at a place
// where the same thread otherwise takes microseconds. Nothing of the program is slow there; another
// thread holds the interpreter's lock, or the interpreter itself is busy (garbage collection).
//
// A place is a Python function with the call before and the call after; what is long whenever the
// place is reached is work of the program and no stop, unless it ends again and again as a function
// of another thread does. Without stacks it is a mark of the program with the ops before and after,
// and a stretch is a stop only where it comes out of order: what the program does at every nth
// visit, or once, may be its own code. Stretches inside ops and runtime calls are those of a host
// without CPU (descheduled.h).
#pragma once

#include <cstdint>
#include <vector>

#include "tree/call_tree.h"

namespace jarvis::analysis {

struct HostStop {
  trace::EventIndex owner = trace::kNoEvent;   // the Python function, or the mark
  trace::EventIndex holder = trace::kNoEvent;  // a function that another thread ran meanwhile
  std::uint32_t track = 0;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  // At a place that is reached too seldom to say what is usual there, but as long as other stops.
  bool unsure = false;
  std::int64_t ns() const { return end_ns - begin_ns; }
};

// By begin. Empty without launches, and where neither Python functions nor marks were recorded.
// Pure; linear in host events but for those of functions that have a long stretch: n log n.
std::vector<HostStop> FindHostStops(const trace::EventStore& events, const tree::CallTree& tree);

}  // namespace jarvis::analysis
