// sweep.json: what a sweep's directory holds, run by run, so that going on and comparing do not
// depend on which directories exist. Rewritten whole after each run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sweep/run_plan.h"
#include "sweep/run_state.h"
#include "tools/answer.h"

namespace jarvis::tools {

inline constexpr const char* kSweepFile = "sweep.json";

struct SweepFile {
  sweep::Records records;
  Json runs = Json::array();  // as read: runs of earlier calls with other axes are kept
};

// kBadValue: no such file of ours.
Result<SweepFile> ReadSweepFile(std::string_view text);

// `arguments`: of the call that runs.
std::string SweepFileText(const sweep::Plan& plan, const std::vector<sweep::RunRecord>& records,
                          const Json& arguments, const SweepFile& earlier);

// [{name, env, values, directory}]
Json AxesJson(const sweep::Plan& plan);
// {directory, values, env, command}
Json RunJson(const sweep::Plan& plan, const sweep::PlannedRun& run);

}  // namespace jarvis::tools
