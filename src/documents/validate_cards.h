// Recommendations against the findings: every one there, in order, with both paths, and with
// savings that fit into the time there is.
#pragma once

#include <vector>

#include "documents/validate.h"

namespace jarvis::documents {

std::vector<Fault> CheckCards(const DocumentCheck& check, const ScannedMarkdown& document);

}  // namespace jarvis::documents
