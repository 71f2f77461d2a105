// What is known of the runs of a sweep directory: what earlier calls recorded, and whether a run is
// done. A directory alone says nothing, a failed run leaves one too: a run is complete when its
// recorded exit status is 0 and every expected rank has a trace that is whole.
//
// Everything is opened below the sweep's directory without following links.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/job.h"
#include "launch/plan.h"
#include "launch/summary.h"

namespace jarvis::launch {

enum class RunState { kPlanned, kRunning, kSuccess, kFailed, kInterrupted };
std::string_view StateName(RunState state);  // "success"
std::optional<RunState> FindState(std::string_view name);

struct RankTrace {
  std::int64_t rank = 0;
  std::string file;  // below the run's directory
  std::uint64_t bytes = 0;
};

// One run as sweep.json has it.
struct RunRecord {
  RunState state = RunState::kPlanned;
  std::optional<std::int64_t> exit_code;
  bool timed_out = false;
  std::string started;  // UTC, "2025-11-21T15:52:19Z"
  std::string ended;
  std::optional<double> duration_s;
  std::string host;
  std::vector<std::pair<std::string, std::string>> versions;  // of the host's GPU software
  std::string note;                                           // why it failed, what was left behind
  std::vector<RankTrace> traces;
  std::vector<std::int64_t> missing_ranks;
};
using Records = std::map<std::string, RunRecord>;  // by directory

struct RunTraces {
  std::vector<RankTrace> files;       // whole ones, by rank and name
  std::vector<std::string> damaged;   // cut or corrupt
  std::vector<std::int64_t> missing;  // ranks of 0 to nproc-1 without a whole one
};
// In torch_profiler of a run: a rank is named by its directory (rank3, rank_3, rank_03) or by the
// file. `known`: files of that size are taken as whole without reading them.
RunTraces FindTraces(int run_folder, int nproc, const std::vector<RankTrace>& known);

struct Completion {
  bool exists = false;  // the directory is there
  bool complete = false;
  std::string why;  // it is not complete
  RunTraces traces;
};
class SweepState {
 public:
  // `folder`: the sweep's directory, or -1 if there is none yet; must outlive this.
  SweepState(int folder, Records records);

  Completion Check(const PlannedRun& run, int nproc) const;
  const RunRecord* Find(const std::string& directory) const;
  // Mean seconds and bytes of the runs that ended well; nothing: there is none.
  std::optional<double> MeanSeconds() const;
  std::optional<double> MeanBytes(const Plan& plan) const;

 private:
  std::optional<bool> EndedWell(const PlannedRun& run, int run_folder) const;

  int folder_;
  Records records_;
  std::vector<SummaryLine> summary_;  // of the newest summary, as sweeps of others have one
};

// The start of a small file below a directory; nothing: it is not there.
std::optional<std::string> ReadSmall(int folder, const std::string& name);

}  // namespace jarvis::launch
