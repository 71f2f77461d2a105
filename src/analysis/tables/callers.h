// Where a row's work is called from: its distinct chains of callers, with time and count; and what
// lies below one call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/attribution/module_paths.h"
#include "analysis/tables/summary.h"

namespace jarvis::analysis {

struct Caller {
  std::vector<ChainTree::Frame> frames;  // the op first, then outward; views into ChainTree
  double gpu_us = 0;
  std::uint64_t count = 0;        // calls with this chain
  EventIndex example = kNoEvent;  // the first call; kNoEvent: unlinked GPU work
};

// The chains of a row's launchers, the most time first; ties by first call. By kernel, the time is
// that of the kernel itself. `chains` must outlive the result.
std::vector<Caller> FindCallers(const SummaryInput& input, const SummaryRow& row, GroupBy by,
                                ChainTree* chains);

// The calling places in the user's code, innermost first: "model.py(243): forward". Runs of library
// frames are folded: "... 6 torch frames". `most`: how many places at most.
std::vector<std::string> CodePlaces(const std::vector<ChainTree::Frame>& frames, std::size_t most);
// The ops of a chain, outermost first, joined by " > "; of backward work with " [backward of ...]".
std::string OpPath(const std::vector<ChainTree::Frame>& frames);

// One node of a printed subtree.
struct SubtreeNode {
  int depth;
  std::uint32_t uid;
  std::string name;  // whole; ShortKernelName for kernels in answers
  std::string kind;  // cpu_op, python, module, annotation, launch, kernel, more
  double host_us;    // 0 for kernels
  double gpu_us;     // sum of the durations of the GPU work below (or its own)
};
// Below `root`, depth first, at most `nodes_max` nodes and `depth_max` levels. What is left out at
// a level is one node "more" with its count and time, so that the parts of a node always add up to
// it.
std::vector<SubtreeNode> PrintableSubtree(const SummaryInput& input, EventIndex root, int depth_max,
                                          std::size_t nodes_max);

std::string_view KindText(trace::EventKind kind, std::string_view name);

}  // namespace jarvis::analysis
