// What the host is spared where attention is one call instead of several; internal to the layer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/simulation/change.h"
#include "findings/one/fusion.h"
#include "trace/event_store.h"
#include "tree/call_tree.h"

namespace jarvis::findings {

// By thread the begins of its calls that launch, by time.
using LaunchTimes = std::vector<std::vector<std::int64_t>>;

// The call stands in the place of an instance's first and last product and takes about as long on
// the host as these do; the ops between them go. On the GPU each instance takes what the
// candidate's expected saving leaves of it. n log n in kernels.
std::vector<analysis::Change> OneAttentionEach(const trace::EventStore& events,
                                               const tree::CallTree& tree,
                                               const LaunchTimes& launches,
                                               std::span<const FusionCandidate* const> candidates);

// The outermost op at or around an event of the host, which the program's own code calls: `matmul`
// around `bmm`, an autograd node around what it runs; kNoEvent: there is none.
trace::EventIndex OutermostOp(const trace::EventStore& events, const tree::CallTree& tree,
                              trace::EventIndex host);

// Host time that goes.
double HostMsOfAttention(std::span<const analysis::Change> changes);

}  // namespace jarvis::findings
