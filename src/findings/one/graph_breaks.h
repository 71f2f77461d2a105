// Waits that break a compiled graph; internal to the layer.
//
// torch.compile cannot follow a branch on a value: it ends the graph, reads the value back and goes
// on in a function of its own, which is compiled as another graph. In a trace the wait then stands
// in the span of a compiled part ("Torch-Compiled Region: 2/1"), after all that this part launches
// itself, and another part begins before anything else is launched. A value that is read from the
// result of a compiled model stands outside of its span; one that is read at the end of a pass is
// followed by the same parts again, in the next pass.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/frames/base_of_time.h"
#include "base/interval.h"
#include "tree/call_tree.h"

namespace jarvis::findings {

class GraphBreaks {
 public:
  // `units`: host time of the passes, by start; may be empty.
  GraphBreaks(const trace::EventStore& events, const tree::CallTree& tree,
              std::span<const analysis::FoundStep> units);

  // The host's time that goes with the break at such a wait: from the last launch before the part
  // that computes the value (of a larger one: its own last launch) to the first launch after it.
  // Nothing: it breaks no graph.
  std::optional<Interval<std::int64_t>> At(trace::EventIndex wait) const;

  // Compiled parts that begin in these stretches of host time.
  std::uint64_t PartsIn(const IntervalSet<std::int64_t>& spans) const;
  bool empty() const { return parts_.empty(); }

 private:
  trace::EventIndex PartAround(trace::EventIndex e) const;
  trace::EventIndex Outermost(trace::EventIndex part) const;
  bool InSamePass(trace::EventIndex part, trace::EventIndex next, std::int64_t wait_ns) const;

  const trace::EventStore& events_;
  const tree::CallTree& tree_;
  const std::span<const analysis::FoundStep> units_;
  std::vector<trace::EventIndex> parts_;     // in the tree's order
  std::vector<trace::EventIndex> launches_;  // calls that launched kernels, in the tree's order
};

}  // namespace jarvis::findings
