// Findings of a recording whose ops are not PyTorch's: what can be done there, in that framework's
// words.
#pragma once

#include "findings/one/analysis.h"

namespace jarvis::findings {

// Leaves out what only PyTorch has and nobody has said for the framework of the recording. Of a
// recording that tells none nothing changes.
void FitToFramework(Analysis* analysis);

}  // namespace jarvis::findings
