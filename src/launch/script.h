// A planned sweep as a script for bash, for machines without jarvis: by itself, or as a job array
// of Slurm. Any value and path is safe in it: each is one quoted word and nothing is evaluated.
#pragma once

#include <string>

#include "launch/plan.h"

namespace jarvis::launch {

enum class Scheduler { kNone, kSlurm };
// Which runs are passed over: none; those whose directory is there, as the reference does it,
// finished or not; those that ended well and have a readable trace of every rank.
enum class Skip { kNone, kExisting, kComplete };
Result<Skip> SkipOf(std::string_view name);
std::string_view SkipName(Skip skip);

struct ScriptOptions {
  Scheduler scheduler = Scheduler::kNone;
  Skip skip = Skip::kComplete;
  bool aggregate = true;  // write the summary
  double pause_s = 0;     // between runs
  std::string workdir;    // where commands start; empty: where the script is started
};

std::string MakeScript(const Plan& plan, const ScriptOptions& options);

}  // namespace jarvis::launch
