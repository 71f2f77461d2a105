// The chains of a finding about fusion, by what they are for.
#pragma once

#include <string>

#include "findings/one/analysis.h"

namespace jarvis::documents {

// Each kind with its time and saving, the most time first; empty: all chains are of one kind.
std::string ChainsTable(const findings::Analysis& analysis, const findings::Finding& finding);

}  // namespace jarvis::documents
