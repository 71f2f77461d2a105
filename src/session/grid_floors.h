// How long kernels take at the least, by the tiles in their names and their grids.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "ledger/kinds/kinds_of_work.h"
#include "perf/platform.h"
#include "trace/event_store.h"
#include "tree/call_tree.h"

namespace jarvis::session {

struct GridFloor {
  double ns = 0;
  double most_ns = 0;                // of the largest sizes that fit; 0: the sizes have no such end
  std::string_view assumption = {};  // see NameFloor
};

// By kernel. Sizes that the device cannot have worked off in a
// kernel's time are not the sizes, there and in every launch of that name and grid.
std::unordered_map<trace::EventIndex, GridFloor> GridFloorsOf(const trace::EventStore& events,
                                                              const tree::CallTree& tree,
                                                              const ledger::KindsOfWork& kinds,
                                                              const perf::Platform& platform);

}  // namespace jarvis::session
