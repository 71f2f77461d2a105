// The analysis of a trace, made once.
#pragma once

#include <memory>

#include "findings/one/analysis.h"

namespace jarvis::findings {

// Analyze, once for all who ask for it of this trace, platform and options, and kept with the trace
// (see session::DerivedCache). Errors: kCancelled.
Result<std::shared_ptr<const Analysis>> AnalysisOf(const session::LoadedTrace& trace,
                                                   const perf::Platform* platform,
                                                   const AnalysisOptions& options, Job& job);

}  // namespace jarvis::findings
