// What a replayed graph is made of, for people.
#pragma once

#include <string>

#include "findings/one/analysis.h"

namespace jarvis::documents {

// One sentence and the table of one layer; empty: no graph is replayed.
std::string ReplayTable(const findings::Analysis& analysis);

}  // namespace jarvis::documents
