// What is said about ranks that compute unlike long before their collectives.
#pragma once

#include <string>

#include "tools/ranks/rank_words.h"

namespace jarvis::tools {

// "even out `gemm` before `combine` among the ranks: ..."
std::string BalanceText(const JobView& job, const analysis::JobLever& lever);
PathTexts BalancePaths(const JobView& job, const analysis::JobLever& lever);
// Whether uneven tokens per expert are inferred of any change.
bool InfersExperts(const JobView& job);
// A sentence without what the job takes then.
std::string BalanceCause(const JobView& job, const analysis::JobLever& lever);

}  // namespace jarvis::tools
