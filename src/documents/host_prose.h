// What is said about a finding whose cause is the host.
#pragma once

#include <string>

#include "findings/one/analysis.h"

namespace jarvis::documents {

// REQUIRES: finding.host != nullptr.
std::string HostTitle(const findings::Analysis& analysis, const findings::Finding& finding);
std::string HostInsight(const findings::Analysis& analysis, const findings::Finding& finding);

}  // namespace jarvis::documents
