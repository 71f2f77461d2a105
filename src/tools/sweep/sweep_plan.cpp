#include <fmt/format.h>

#include "io/output_folder.h"
#include "tools/shared/arguments.h"
#include "tools/sweep/request.h"
#include "tools/sweep/sweep_tools.h"

namespace jarvis::tools {
namespace {

// Without a name for the sweep: no clock is in a plan, so equal calls give equal plans.
constexpr const char* kDefaultSweep = "experiments/sweep";

}  // namespace

Result<Answer> SweepPlan(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const SweepRequest request, ReadSweepRequest(workspace, arguments, kDefaultSweep));
  JV_ASSIGN(const PlannedSweep planned, PlanSweep(workspace, request, job));
  Answer answer = PlanAnswer(planned, request);
  const std::string format = arguments.value("format", "json");
  if (format == "json") return answer;
  launch::ScriptOptions options;
  options.scheduler = format == "slurm" ? launch::Scheduler::kSlurm : launch::Scheduler::kNone;
  options.skip = request.drive.skip;
  options.aggregate = request.drive.aggregate;
  options.pause_s = request.drive.pause_s;
  options.workdir = request.drive.workdir;
  const std::string name = format == "slurm" ? "run_sweep.sbatch" : "run_sweep.sh";
  JV_ASSIGN(const auto folder,
            io::OutputFolder::Open(workspace.files(), planned.plan.sweep_dir, job));
  JV_TRY(folder->Claim({name}, MayOverwrite(arguments)));
  JV_ASSIGN(std::string path, folder->Write(name, launch::MakeScript(planned.plan, options)));
  JV_TRY(folder->Commit());
  answer.summary += fmt::format(" Start it with: bash {}", launch::CommandLine({path}));
  answer.files = {{std::move(path), "script", planned.plan.runs.size()}};
  return answer;
}

}  // namespace jarvis::tools
