// What is said about a finding whose cause is the host.
#pragma once

#include <string>

#include "findings/one/analysis.h"

namespace jarvis::documents {

// REQUIRES: finding.host != nullptr.
// How long the GPU has nothing to do for it, of all units: no more than the host takes there, and
// of phases what theirs add up to.
double IdleMs(const findings::Analysis& analysis, const findings::HostCause& cause);

std::string HostTitle(const findings::Analysis& analysis, const findings::Finding& finding);
std::string HostInsight(const findings::Analysis& analysis, const findings::Finding& finding);

}  // namespace jarvis::documents
