// What a replayed graph is made of: layers that repeat, what stands around them, and the time in
// which the GPU waits inside the replay. By names and times of its kernels alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/interval.h"
#include "session/loaded_trace.h"

namespace jarvis::findings {

// One kernel of a block, over all blocks of all replays of one graph. Calls of one kernel for one
// part of the model are one.
struct LayerKernel {
  std::string name;            // short
  std::string part;            // of the model: "norm", "mlp up"; "other" where names do not tell
  std::uint64_t of_block = 0;  // calls in one block
  double median_us = 0, max_us = 0;
  double ms_of_replay = 0;  // of all blocks that are alike, mean
};

// The replays of one graph, taken together: the graph with the most time.
struct ReplayStructure {
  std::uint64_t replays = 0;  // of this graph
  std::uint64_t kernels = 0;  // of one replay
  double span_ms = 0;         // of one replay, first start to last end, mean
  double busy_ms = 0;         // mean; kernels that run side by side count as often as they ran
  double idle_ms = 0;         // between its kernels, mean
  // Before a replay, since the replay before it, the first GPU work or the end of what was not
  // recorded: without the GPU work in between; mean.
  double idle_before_ms = 0;
  // The longest wait between two kernels, and how many kernels had run before it.
  double longest_gap_ms = 0;
  std::uint64_t gap_after = 0;
  // Repeating blocks, which are layers or pairs of unlike layers; 0: nothing repeats.
  std::uint64_t layers = 0;
  std::uint64_t block_kernels = 0;  // of the usual one
  double layer_us = 0;              // a block's kernels, median
  double around_ms = 0;             // what is in no block: embedding, head, sampling; of one replay
  std::vector<LayerKernel> layer;   // by first call; of the usual block
};

// `unrecorded`: when the GPU was busy with what is not in the trace. Absent: no graph is replayed.
// n log n in GPU work.
std::optional<ReplayStructure> FindReplayStructure(const session::LoadedTrace& trace,
                                                   const IntervalSet<std::int64_t>& unrecorded);

}  // namespace jarvis::findings
