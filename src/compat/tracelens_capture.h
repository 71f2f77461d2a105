// What the reference makes of a folder of graph captures: the captured host events hang below the
// calls that replay the graphs, and the replayed kernels below the captured launches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "compat/tracelens_tree.h"
#include "trace/event_store.h"

namespace jarvis::compat {

// One file of the folder, as its execution_details.json lists it.
struct TraceLensCapture {
  const trace::EventStore* events = nullptr;  // null: the list names a file that is not there
  std::optional<std::int64_t> batch;
  std::string mode;     // "FULL", "PIECEWISE"
  bool listed = false;  // false: the folder has no such list, and the reference makes one
};

struct MergedCaptures {
  // The trace's own events, at their places, and behind them the captured ones, all of which have
  // the time of the call that replays them; null: none was added.
  std::shared_ptr<const trace::EventStore> events;
  TraceLensTree tree;
};

// Absent: there are no captures, or the reference goes on as if there were none (T17). Where none
// fits the tree is still the one that captures are merged into: with Python frames.
std::optional<MergedCaptures> MergeCaptures(const trace::EventStore& events,
                                            std::span<const TraceLensCapture> captures);

// The mode and the number of rows that the reference writes into a list that it makes.
void ClassifyCapture(TraceLensCapture* capture);

}  // namespace jarvis::compat
