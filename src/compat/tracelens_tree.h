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
  // Where captures were merged. What the lists of GPU work are made of: links as they were
  // recorded, and behind them those of captured launches (T18: a call that replays a graph, and all
  // above it, have its kernels from both); empty: `links`.
  std::vector<std::pair<EventIndex, EventIndex>> listed;
  std::vector<EventIndex> captured_ops;  // the topmost of each graph
  std::vector<double> ts;                // by event, microseconds
  std::vector<double> end;               // ts + dur, in double arithmetic
};

// The kind of an event by the categories that the reference knows; others are kOther.
trace::EventKind TraceLensKind(const trace::EventStore& events, EventIndex e);

TraceLensTree BuildTraceLensTree(const trace::EventStore& events, bool python_frames);

}  // namespace jarvis::compat
