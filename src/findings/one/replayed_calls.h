// Kernels of replayed GPU graphs without a capture: calls of their own, told by their names.
#pragma once

#include <span>
#include <vector>

#include "analysis/attribution/work_calls.h"
#include "session/loaded_trace.h"

namespace jarvis::findings {

// Whether the call is a replay, or after SplitReplays one kernel of it.
bool IsReplayCall(const trace::EventStore& events, const analysis::WorkCall& call);
// Whether SplitReplays has anything to do: graphs are replayed, or a graph launch has work without
// a model.
bool HasReplays(const session::LoadedTrace& trace, std::span<const analysis::WorkCall> calls);

// The calls with replayed kernels taken out, each a call of its own: named by the kernel and its
// part of the model, in the category that the part belongs to. What they compute is not known, so
// they have no model. Calls of a capture whose op tells no category get that of their kernels.
std::vector<analysis::WorkCall> SplitReplays(const session::LoadedTrace& trace,
                                             std::span<const analysis::WorkCall> calls);

}  // namespace jarvis::findings
