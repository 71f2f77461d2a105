// Judges a trace's quality from what was recorded and what the analysis saw.
#pragma once

#include <vector>

#include "workflow/analysis.h"

namespace jarvis::workflow {

// The gravest first; in a fixed order within one severity.
std::vector<QualityCode> JudgeQuality(const engine::LoadedTrace& trace, const Analysis& analysis,
                                      bool platform_known);

}  // namespace jarvis::workflow
