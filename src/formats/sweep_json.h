// sweep.json: what a sweep's directory holds, run by run, so that going on and comparing do not
// depend on which directories exist. Rewritten whole after each run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/json.h"
#include "launch/plan.h"
#include "launch/state.h"

namespace jarvis::formats {

inline constexpr const char* kSweepFile = "sweep.json";

struct SweepFile {
  launch::Records records;
  Json runs = Json::array();  // as read: runs of earlier calls with other axes are kept
};

// kBadValue: no such file of ours.
Result<SweepFile> ReadSweepFile(std::string_view text);

// `arguments`: of the call that runs.
std::string SweepFileText(const launch::Plan& plan, const std::vector<launch::RunRecord>& records,
                          const Json& arguments, const SweepFile& earlier);

// [{name, env, values, directory}]
Json AxesJson(const launch::Plan& plan);
// {directory, values, env, command}
Json RunJson(const launch::Plan& plan, const launch::PlannedRun& run);

}  // namespace jarvis::formats
