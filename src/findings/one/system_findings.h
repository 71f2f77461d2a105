// Findings about what is not a single op: idle time, communication, copies.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "findings/one/analysis.h"
#include "session/loaded_trace.h"

namespace jarvis::findings {

// One about what is no single kernel's, without numbers yet.
Finding SystemFinding(const char* category, const char* name, std::string subject);

std::vector<Finding> IdleFindings(const Analysis& analysis);
// `steps`: marked steps of the trace; 0: none.
std::vector<Finding> MultiKernelFindings(const session::LoadedTrace& trace,
                                         const Analysis& analysis, std::size_t steps);
// Its time as shares of the window and of computing.
void SetShares(const Analysis& analysis, Finding* finding);
// By saving, then by time; fills in `rank`.
void RankFindings(std::vector<Finding>* findings);

}  // namespace jarvis::findings
