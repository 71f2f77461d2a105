// A model that runs several times in each step on inputs of equal sizes; internal to the layer.
#pragma once

#include <vector>

#include "findings/one/calls.h"
#include "findings/one/finding.h"
#include "findings/one/work_context.h"
#include "session/trace_frames.h"

namespace jarvis::findings {

// At most one finding, about all steps. Whether a pass needs the one before a trace cannot show for
// sure: it is told where each is given an upload of its own, or where no op between them can make
// its input and the results of all meet after the last one.
void FindPassesInTurn(const Calls& calls, const WorkContext& context, std::vector<Finding>* out);

}  // namespace jarvis::findings
