// Runs a planned sweep: one run after the other, each with its log, its record, a line in the
// driver's log; at the end the table of runs. A run that fails does not stop the others.
//
// It executes programs: the caller has made sure that this is allowed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/job.h"
#include "io/file_policy.h"
#include "launch/plan.h"
#include "launch/script.h"
#include "launch/state.h"

namespace jarvis::launch {

struct DriveOptions {
  Skip skip = Skip::kComplete;
  bool aggregate = true;
  double pause_s = 0;
  std::optional<double> timeout_s;           // of one run
  std::optional<std::int64_t> max_failures;  // so many end the sweep
  std::string workdir;
};

struct Driven {
  std::vector<RunRecord> records;   // of the plan's runs, in their order
  std::vector<RunStatus> statuses;  // of this call; kUnknown: not reached
  std::vector<std::string> files;   // log and summary, absolute
  std::size_t failed = 0;
  bool interrupted = false;
  bool gave_up = false;  // by max_failures
};

// Is told of the records whenever one has changed.
using SaveRecords = std::function<Status(const std::vector<RunRecord>&)>;

// `folder`: the plan's sweep directory, from the policy. Errors: kBusy if another call runs in that
// directory, kIo, kExists. A cancelled sweep is no error here: see Driven::interrupted.
Result<Driven> DriveSweep(const io::FilePolicy& files, int folder, const Plan& plan,
                          const DriveOptions& options, const SweepState& state,
                          const SaveRecords& save, Job& job);

// "20251121_155219", of now, in local time.
std::string Stamp();

}  // namespace jarvis::launch
