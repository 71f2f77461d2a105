// What is said of copies between host and device beside their time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "findings/one/finding.h"

namespace jarvis::documents {

// Where their saving is more than they take: how long the host stands in their calls; else absent.
std::optional<double> CopyCallsMs(const findings::Finding& finding);
// " in 12 calls"; where a few of many copies take nearly all of the time, these.
std::string InCalls(const findings::Finding& finding);

// Whether the label of a pattern says no more than the name of the copies.
bool IsCopy(findings::Pattern pattern);
// "Host-to-device copies" of "H2D copies"; other subjects of the system in words.
std::string CopiesText(std::string_view subject);

}  // namespace jarvis::documents
