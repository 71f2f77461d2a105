// Qualities that need the ops and kernels judged.
#pragma once

#include <vector>

#include "findings/one/quality.h"

namespace jarvis::findings {

void AddAnalysisQualities(const session::LoadedTrace& trace, const Analysis& analysis,
                          std::vector<Quality>* list);

}  // namespace jarvis::findings
