// Activation recomputation: work that a checkpointed forward pass does again during backward.
#pragma once

#include <string_view>
#include <vector>

#include "tree/call_tree.h"

namespace jarvis::tree {

// The Python frame below which torch.utils.checkpoint runs the forward pass again.
bool IsRecomputeFrame(std::string_view name);

// By event: 1 for host events inside such a frame and for the GPU work they launched. All 0 if the
// trace has no Python frames.
std::vector<char> MarkRecompute(const trace::EventStore& events, const CallTree& tree);

}  // namespace jarvis::tree
