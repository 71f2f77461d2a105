// One function a tool, one file each. Arguments fit the tool's schema and have its defaults.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/job.h"
#include "engine/workspace.h"
#include "tools/answer.h"

namespace jarvis::tools {

class CallLog;

Result<Answer> LoadTrace(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> GpuTimeline(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> OpsSummary(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> ParentChain(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> GemmRoofline(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> CategoryFilter(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> CategoryAnalysisTool(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> IdleGaps(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> FusionCandidates(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> Prioritize(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> Compare(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> PerfReport(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> TraceDiffTool(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> MakeReplay(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> Collectives(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> Digest(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> MergeRanks(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> RocprofCounters(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> RocprofYaml(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> GemmKernelDecode(engine::Workspace& workspace, const Json& arguments, Job& job);
// Both tell in the working notes what was called before.
Result<Answer> RenderReport(engine::Workspace& workspace, const Json& arguments, Job& job,
                            const CallLog& log);
Result<Answer> WriteFindings(engine::Workspace& workspace, const Json& arguments, Job& job,
                             const CallLog& log);
Result<Answer> SweepPlan(engine::Workspace& workspace, const Json& arguments, Job& job);
// kExecDisabled unless the workspace may execute.
Result<Answer> SweepRun(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> Validate(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> SweepScan(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> SweepPipeline(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> SweepCompare(engine::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> SweepRecommend(engine::Workspace& workspace, const Json& arguments, Job& job);

// Shared by them.
using TracePtr = std::shared_ptr<const engine::LoadedTrace>;
// The trace that the argument `trace` names. kLoading when it is not there within the workspace's
// patience: handed on, it becomes the answer "still loading".
Result<TracePtr> OpenTrace(engine::Workspace& workspace, const Json& arguments, Job& job);
// The same with all that the workspace says of it; `trace` is never null.
Result<engine::Opened> OpenTraceFully(engine::Workspace& workspace, const Json& arguments,
                                      Job& job);

// The argument, or nothing if it was not given.
std::optional<std::string> TextArgument(const Json& arguments, const char* name);

// Where files go: output_dir as given, else a directory named after the trace; absolute, and
// allowed. For io::OutputFolder::Open.
Result<std::string> OutputDirectory(const engine::Workspace& workspace, const Json& arguments,
                                    const engine::LoadedTrace& trace);
// The argument `overwrite`; false if the tool has none.
bool MayOverwrite(const Json& arguments);

// The row's name in an answer: kernels' are shortened by rule (analysis::ShortKernelName). The
// whole name is in the files and in parent_chain of the row.
std::string ShownName(const analysis::SummaryRow& row);

// Shares of a whole in percent; absent if the whole is 0.
std::optional<double> Percent(double part, double whole);

// A note for every quality item that bears on totals of GPU time.
std::vector<std::string> CoverageNotes(const engine::LoadedTrace& trace);

}  // namespace jarvis::tools
