// What is said about a finding whose cause is the host.
#pragma once

#include <optional>
#include <string>

#include "findings/one/analysis.h"

namespace jarvis::documents {

// REQUIRES: finding.host != nullptr.
std::string HostTitle(const findings::Analysis& analysis, const findings::Finding& finding);
std::string HostInsight(const findings::Analysis& analysis, const findings::Finding& finding);

// How many times the batch the GPU could take in the host's time: of one forward pass after the
// other that leaves the GPU idle for most of the time; absent: not such a pass.
std::optional<double> BatchTimes(const findings::Analysis& analysis);

}  // namespace jarvis::documents
