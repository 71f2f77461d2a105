// What one trace is asked. One function per tool, one file each. Arguments fit the tool's schema
// and have its defaults.
#pragma once

#include "base/job.h"
#include "json/json.h"
#include "session/workspace.h"
#include "tools/shared/answer.h"

namespace jarvis::tools {

class CallLog;

Result<Answer> LoadTrace(session::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> GpuTimeline(session::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> CriticalPath(session::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> WhatIf(session::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> OpsSummary(session::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> ParentChain(session::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> GemmRoofline(session::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> CategoryFilter(session::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> CategoryAnalysisTool(session::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> HostSummaryTool(session::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> IdleGaps(session::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> FusionCandidates(session::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> Prioritize(session::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> Query(session::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> Perfetto(session::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> PerfReport(session::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> Split(session::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> MakeReplay(session::Workspace& workspace, const Json& arguments, Job& job);
Result<Answer> GemmKernelDecode(session::Workspace& workspace, const Json& arguments, Job& job);
// These tell in the working notes what was called before.
Result<Answer> RenderReport(session::Workspace& workspace, const Json& arguments, Job& job,
                            const CallLog& log);
Result<Answer> WriteFindings(session::Workspace& workspace, const Json& arguments, Job& job,
                             const CallLog& log);
Result<Answer> WorkloadTool(session::Workspace& workspace, const Json& arguments, Job& job,
                            const CallLog& log);
Result<Answer> Validate(session::Workspace& workspace, const Json& arguments, Job& job);

}  // namespace jarvis::tools
