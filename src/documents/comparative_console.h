// A pair of traces in some thirty lines of plain text, for whoever asked in a terminal.
#pragma once

#include <string>

#include "documents/comparative_report.h"

namespace jarvis::documents {

Result<std::string> PairConsole(const ComparativeSide& candidate, const ComparativeSide& baseline,
                                Job& job);

}  // namespace jarvis::documents
