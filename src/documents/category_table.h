// Where the time of the GPU goes, by category.
#pragma once

#include <string>

#include "findings/one/analysis.h"

namespace jarvis::documents {

// All categories, copies apart; empty: there is none.
std::string CategoryTable(const findings::Analysis& analysis);

}  // namespace jarvis::documents
