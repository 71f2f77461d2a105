// The reference's walk over its tree for the summary of work.
#pragma once

#include <vector>

#include "compat/tracelens_nodes.h"

namespace jarvis::compat {

struct CollectedNode {
  Node node = 0;
  // Of a backward op that is the only one of its forward op: that one; else kNoEvent.
  EventIndex forward = kNoEvent;
};

// The nodes that are a row each, in the order of the walk: top-most ops with a model, backward ops
// with their forward op's, and of the rest those that launch GPU work themselves.
std::vector<CollectedNode> CollectNodes(TraceLensNodes& in, bool python_frames);

}  // namespace jarvis::compat
