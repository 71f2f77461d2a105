// Judges a trace's quality from what was recorded and what the analysis saw.
#pragma once

#include <vector>

#include "findings/one/analysis.h"

namespace jarvis::findings {

// The gravest first; in a fixed order within one severity.
std::vector<QualityCode> JudgeQuality(const session::LoadedTrace& trace, const Analysis& analysis,
                                      bool platform_known);

}  // namespace jarvis::findings
