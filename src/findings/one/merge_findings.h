// Findings about operations that have one and the same way out become one: a reader does it once.
#pragma once

#include <vector>

#include "findings/one/finding.h"

namespace jarvis::findings {

// The costliest names them all. Where a compiler is the way out of the model's chains anyway, what
// has no other way out than compiling goes with these.
void MergeByAction(std::vector<Finding>* findings);

}  // namespace jarvis::findings
