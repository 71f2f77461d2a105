// A model that runs several times in each step on inputs of equal sizes; internal to the layer.
#pragma once

#include <vector>

#include "findings/one/calls.h"
#include "findings/one/finding.h"
#include "findings/one/work_context.h"
#include "session/trace_frames.h"

namespace jarvis::findings {

// At most one finding, about all steps. Whether a pass needs the one before a trace cannot show.
void FindPassesInTurn(const Calls& calls, const WorkContext& context, std::vector<Finding>* out);

}  // namespace jarvis::findings
