// Two traces as one HTML file: the comparative report, and both traces' GPU time by module, op and
// kernel, one above the other on one scale.
#pragma once

#include <string>
#include <string_view>

#include "base/job.h"
#include "base/result.h"
#include "findings/one/analysis.h"
#include "session/loaded_trace.h"

namespace jarvis::page {

struct PairSide {
  std::string_view name;  // "candidate"
  const session::LoadedTrace& trace;
  const findings::Analysis& analysis;
};

// `report`: comparative_analysis_fair.md. Errors: kCancelled.
Result<std::string> RenderPairPage(std::string_view report, const PairSide& candidate,
                                   const PairSide& baseline, const Job& job);

}  // namespace jarvis::page
