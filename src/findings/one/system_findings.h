// Findings about what is not a single op: idle time, communication, copies, fusion.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "findings/one/analysis.h"

namespace jarvis::findings {

// One about what is no single kernel's, without numbers yet.
Finding SystemFinding(const char* category, const char* name, std::string subject);

std::vector<Finding> IdleFindings(const Analysis& analysis);
// `steps`: marked steps of the trace; 0: none.
std::vector<Finding> MultiKernelFindings(const Analysis& analysis, std::size_t steps);
// Candidates of one kind and module class together.
// The candidates that torch.compile would make one kernel each, by id, in a model that could be
// compiled: all of them are one finding. What follows a product belongs to them where several kinds
// of chains do.
std::set<std::string> EagerChains(const FusionAnalysis& fusion, const WorkContext& context);

std::vector<Finding> FusionFindings(const Analysis& analysis);

}  // namespace jarvis::findings
