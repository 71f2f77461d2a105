// What the threads that launch do for long without giving the GPU anything: loading, preprocessing,
// logging, ops on the host. The GPU may still work on what it was given before, and waits later.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/interval.h"
#include "findings/one/host_cause.h"
#include "findings/one/idle_sections.h"
#include "session/loaded_trace.h"

namespace jarvis::findings {

struct HostOnlyWork {
  // Of the outermost events; of a wrapper or a built-in that of the user's code inside which takes
  // most of it. Without an address.
  std::string name;
  bool named = false;  // the name is an op, an annotation, the loader or the user's own code
  bool loading = false;
  std::uint64_t count = 0;
  std::vector<SectionWork> inside;  // self time by name, the most first, at most kSectionWorkMax
  IntervalSet<std::int64_t> spans;  // host time
  std::int64_t beside_gpu_ns = 0;   // of it, while the GPU works
};

// Outermost events inside which no call of the runtime is made, by name, the most time first: of
// threads that launch, each of at least 0.1 ms. What waits for a lock, a queue or another thread
// that launches meanwhile is no work.
std::vector<HostOnlyWork> FindHostOnlyWork(const session::LoadedTrace& trace);

// Of a finding about such work within some spans of it, which the GPU's queue hides; less its idle
// time.
HostCause CauseOfLate(const HostOnlyWork& work, const IntervalSet<std::int64_t>& spans);

// By an event's place in the tree's order: whether it is such an event, or one inside of it is.
std::vector<bool> EventsHolding(const tree::CallTree& tree,
                                const std::function<bool(trace::EventIndex)>& is_such);

}  // namespace jarvis::findings
