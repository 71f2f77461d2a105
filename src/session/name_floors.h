// How long kernels take at the least, by the sizes that their names and grids give: what must pass
// through the device's memory at its peak, and what must be calculated at its peak. Of traces
// without shapes this is all that there is to hold a kernel against.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "ledger/kinds/kinds_of_work.h"
#include "perf/platform.h"
#include "trace/event_store.h"
#include "tree/call_tree.h"

namespace jarvis::session {

// Less of the time of kernels says nothing: something that is not known may be their limit.
inline constexpr double kLeastShare = 0.1;

struct NameFloor {
  std::int64_t ns = 0;       // not above the kernel's own time
  std::int64_t most_ns = 0;  // the same of the largest sizes that fit; 0: they have no such end
  bool by_grid = false;      // by the tile in the name and the grid (session/layer_sizes.h)
  // What it holds for: "uniform_routing", all experts have tokens; "own_keys", attention is of a
  // sequence to itself. Empty: it holds in any case.
  std::string_view assumption = {};
};

class NameFloors {
 public:
  NameFloors(const trace::EventStore& events, const tree::CallTree& tree,
             const ledger::KindsOfWork& kinds, const perf::Platform& platform);

  // Null: the name gives no sizes; what they give is so far below the time of the kernels of that
  // name that something else is their limit; or the device cannot do it in the kernels' time, which
  // shows that they are not the sizes.
  const NameFloor* Of(trace::EventIndex gpu_event) const;

 private:
  std::unordered_map<trace::EventIndex, NameFloor> floors_;
};

}  // namespace jarvis::session
