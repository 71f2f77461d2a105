// What is said of copies between host and device beside their time.
#pragma once

#include <optional>
#include <string>

#include "findings/one/finding.h"

namespace jarvis::documents {

// Where their saving is more than they take: how long the host stands in their calls; else absent.
std::optional<double> CopyCallsMs(const findings::Finding& finding);
// " in 12 calls"; where a few of many copies take nearly all of the time, these.
std::string InCalls(const findings::Finding& finding);

}  // namespace jarvis::documents
