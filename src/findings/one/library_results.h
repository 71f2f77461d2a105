// Results that a library's function makes anew in each step although what it is given stays;
// internal to the layer.
#pragma once

#include <vector>

#include "findings/one/calls.h"
#include "findings/one/finding.h"
#include "findings/one/work_context.h"

namespace jarvis::findings {

// At most one finding a row.
void FindLibraryResults(const Calls& calls, const WorkContext& context, std::vector<Finding>* out);

}  // namespace jarvis::findings
