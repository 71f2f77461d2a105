#include "app/compare_gate.h"

#include <fmt/format.h>
#include <unistd.h>

#include "app/console.h"
#include "app/exit_code.h"
#include "app/progress_line.h"
#include "mcp/error_reply.h"
#include "rpc/signal_watcher.h"
#include "tools/shared/platform_choice.h"

namespace jarvis::app {
namespace {

Result<findings::TraceRuns> OpenRuns(session::Workspace& workspace,
                                     const std::vector<std::string>& paths, Job& job) {
  findings::TraceRuns runs;
  for (const std::string& path : paths) {
    if (session::KindOf(workspace.files(), path) != session::SourceKind::kTrace) {
      return Fail(ErrorCode::kBadValue,
                  fmt::format("--fail-on needs traces; \"{}\" is a report", path));
    }
    JV_ASSIGN(auto trace, workspace.Open(path, job));
    runs.push_back(std::move(trace));
  }
  return runs;
}

Result<findings::GateResult> Judge(session::Workspace& workspace, const GateRequest& request,
                                   Job& job) {
  findings::GateInput input;
  JV_ASSIGN(input.baseline, OpenRuns(workspace, request.baseline, job));
  JV_ASSIGN(input.runs, OpenRuns(workspace, request.runs, job));
  const io::FilePolicy& files = workspace.files();
  JV_ASSIGN(tools::PlatformChoice of_runs,
            tools::ChoosePlatform(files, request.platform, input.runs.front().get()));
  JV_ASSIGN(
      tools::PlatformChoice of_baseline,
      tools::ChoosePlatform(files, request.comparison_platform, input.baseline.front().get()));
  input.platform = std::move(of_runs.platform);
  input.comparison_platform = std::move(of_baseline.platform);
  return findings::JudgeGate(input, request.conditions, job);
}

}  // namespace

int RunGate(session::Workspace& workspace, const GateRequest& request, bool json) {
  Result<findings::GateResult> result;
  {
    ProgressLine line(STDERR_FILENO);
    Job job([&](std::uint64_t done, std::uint64_t total, std::string_view what) {
      line.Show(done, total, what);
    });
    const auto watcher = rpc::SignalWatcher::Start([&](int) { job.Stop(); });
    result = Judge(workspace, request, job);
  }
  if (!result) {
    PrintError(mcp::ErrorReply(result.error()).text);
    return kExitFailure;
  }
  const bool broken = result->broken > 0 || !result->refusal.empty();
  const std::string text = fmt::format(
      "\nGate: {} of {} conditions broken{}\n{}", result->broken, request.conditions.size(),
      result->refusal.empty() ? "" : ", not comparable", findings::GateText(*result));
  if (json) {
    PrintError(text);
  } else if (!Print(text)) {
    return kExitFailure;
  }
  return broken ? kExitGate : kExitOk;
}

}  // namespace jarvis::app
