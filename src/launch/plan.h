// A sweep before it runs: which runs, with what environment and command, in which directory.
// Pure: nothing is read or written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/knobs.h"

namespace jarvis::launch {

// A run that the tools of a sweep understand lies in "<T>thread/nccl_<C>channels" of a directory:
// these two axes are innermost, so that with further axes each directory above is a sweep.
inline constexpr std::string_view kThreads = "threads";
inline constexpr std::string_view kChannels = "channels";

struct RocprofRequest {
  bool enabled = false;
  bool stats = false;
  std::string input;  // a YAML file; empty: trace all kernels
};

struct PlanRequest {
  Vendor vendor = Vendor::kAmd;
  std::vector<AxisRequest> axes;     // none: threads x channels
  std::vector<std::string> command;  // with {run_dir}, {config}, {nproc}, {AXIS}; empty: torchrun
  std::string config;
  int nproc = 8;
  std::string sweep_dir;  // absolute
  RocprofRequest rocprof;
};

struct PlannedRun {
  std::vector<std::string> values;  // one per axis
  std::string directory;            // below the sweep's
  Environment env;                  // common and of the axes
  std::vector<std::string> command;
};

struct Plan {
  std::string sweep_dir;
  std::vector<Axis> axes;
  std::vector<PlannedRun> runs;  // the first axis changes slowest
  int nproc = 8;
  std::vector<std::string> warnings;
};

// kBadValue: what an axis or the command cannot be; kTooLarge beyond kRunsMax runs.
inline constexpr std::size_t kRunsMax = 1000;
Result<Plan> MakePlan(const PlanRequest& request);

// The command of a run when the user gives none. One --override with all settings: the workload
// keeps the last one only.
const std::vector<std::string>& DefaultCommand();

// "THREADS=256, CHANNELS=28".
std::string RunTitle(const Plan& plan, const PlannedRun& run);

// Quoted for any POSIX shell: inside single quotes nothing has a meaning.
std::string ShellQuote(std::string_view text);
// The words of a command, quoted where need be.
std::string CommandLine(const std::vector<std::string>& command);

}  // namespace jarvis::launch
