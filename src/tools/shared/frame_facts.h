// The step of a trace as members of an answer.
#pragma once

#include "json/json.h"
#include "ledger/books/step_bound.h"

namespace jarvis::tools {

// {"found_by": "marks", "count": 3, "steady": 3, "step_ms": 18.9, ...}: milliseconds; what the
// trace does not tell is null.
Json StepFacts(const analysis::TimeFrames& frames, const ledger::StepBound& bound);

}  // namespace jarvis::tools
