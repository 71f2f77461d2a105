// GPU time that belongs to no step of the trace: work whose launch came before the recording, and
// time in which the GPU was busy with something that is not in the trace at all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/frames/frame_facts.h"

namespace jarvis::analysis {

// A stretch in which no recorded GPU work ran though some was ready to.
struct Unrecorded {
  TimeSpan span;
  EventIndex next;     // the GPU work that waited, or kNoEvent
  EventIndex blocked;  // the call that the host waited in meanwhile, or kNoEvent
};

struct UnseenWork {
  // On each stream, the work before the first that has a launch: streams keep the order of their
  // launches, so these were launched before the recording began.
  std::vector<EventIndex> foreign;  // by start
  TimeSet foreign_busy;
  std::vector<Unrecorded> stretches;  // by start
  TimeSet unrecorded;
  // Why foreign work cannot be told; empty if it can.
  std::string foreign_unknown;
};

UnseenWork FindUnseenWork(const FrameFacts& facts);

}  // namespace jarvis::analysis
