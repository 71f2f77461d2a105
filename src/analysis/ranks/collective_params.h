// What a trace knows of a collective whose kernel carries no args: the record_param_comms op around
// its launch, and the annotation between the two.
#pragma once

#include <optional>
#include <string>

#include "analysis/attribution/collective_kernel.h"
#include "tree/call_tree.h"

namespace jarvis::analysis {

struct CollectiveParams {
  CollectiveKeys keys;                   // what is not known is absent; the stream always is
  std::string group_handle;              // tells nameless groups of one process apart; may be empty
  std::optional<std::int64_t> sequence;  // running number within the group
  std::optional<std::int64_t> source;    // of a send or a receive
  std::optional<std::int64_t> target;
};

// Of the op around the kernel's launch; nothing: there is no such op.
std::optional<CollectiveParams> FindCollectiveParams(const trace::EventStore& events,
                                                     const tree::CallTree& tree,
                                                     trace::EventIndex kernel);

}  // namespace jarvis::analysis
