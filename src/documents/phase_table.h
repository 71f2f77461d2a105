// The parts of a step as reports show them.
#pragma once

#include <string>

#include "findings/one/analysis.h"

namespace jarvis::documents {

// The parts of a step, at most eight; empty: it has none.
std::string PhaseTable(const findings::Analysis& analysis);

}  // namespace jarvis::documents
