// The table of runs that the driver of a sweep leaves beside them,
// nccl_thread_sweep_summary_<stamp>.txt: columns 10, 15, 10 and 15 wide (further axes 15), a rule
// of 52 dashes, an empty line after each group of runs, then the directories.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/plan.h"

namespace jarvis::launch {

// How a run ended, in the summary's words.
enum class RunStatus { kUnknown, kSuccess, kFailed, kSkipped };
std::string_view StatusText(RunStatus status);  // "SUCCESS"
std::optional<RunStatus> FindStatus(std::string_view text);

struct SummaryRow {
  RunStatus status = RunStatus::kUnknown;
  std::optional<std::int64_t> duration_s;
};

// `rows`: one per run of the plan. `generated`: the date as text.
std::string SummaryText(const Plan& plan, const std::vector<SummaryRow>& rows,
                        std::string_view generated);

// A summary read back: the values of the axes as text, with their row. Lines that are none are
// passed over.
struct SummaryLine {
  std::vector<std::string> values;
  SummaryRow row;
};
std::vector<SummaryLine> ReadSummary(std::string_view text);

// Names of the columns of axes: "THREADS".
std::vector<std::string> AxisTitles(const Plan& plan);
// A group is the runs that differ in the last axis alone.
std::size_t GroupSize(const Plan& plan);
std::string GroupTitle(const Plan& plan, const PlannedRun& run);

}  // namespace jarvis::launch
