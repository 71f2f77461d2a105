// The reference's event tree: what AttributeLikeTraceLens works on.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "trace/event_store.h"

namespace jarvis::compat {

using trace::EventIndex;
using trace::kNoEvent;

struct TraceLensTree {
  std::vector<EventIndex> parent;                        // by event
  std::vector<char> in_tree;                             // by event: considered or linked
  std::vector<char> discarded;                           // by event: considered, but not nested
  std::vector<EventIndex> hosts;                         // what was considered, by start
  std::vector<std::pair<EventIndex, EventIndex>> links;  // launch call, GPU event; in file order
  std::vector<double> ts;                                // by event, microseconds
  std::vector<double> end;                               // ts + dur, in double arithmetic
};

// The kind of an event by the categories that the reference knows; others are kOther.
trace::EventKind TraceLensKind(const trace::EventStore& events, EventIndex e);

TraceLensTree BuildTraceLensTree(const trace::EventStore& events, bool python_frames);

}  // namespace jarvis::compat
