// Passes and forward work that run again; internal to the layer.
#pragma once

#include <vector>

#include "findings/one/calls.h"
#include "findings/one/finding.h"
#include "findings/one/work_context.h"

namespace jarvis::findings {

// Work that is done twice or more, on the host as well; the way out takes all of it.
void FindRepeatedWork(const Calls& calls, const WorkContext& context, std::vector<Finding>* out);

}  // namespace jarvis::findings
