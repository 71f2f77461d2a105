#include "launch/script.h"

#include <array>

#include <fmt/format.h>

#include "base/text.h"
#include "launch/embedded.h"
#include "launch/summary.h"

namespace jarvis::launch {
namespace {

constexpr std::array<std::string_view, 3> kSkipNames = {"none", "existing", "complete"};
// torchrun gives its workers 30 s to end before it kills them.
constexpr int kGraceSeconds = 35;

std::string Words(const std::vector<std::string>& words) {
  std::string list;
  for (const std::string& word : words)
    list += (list.empty() ? "" : " ") + ShellQuote(word);
  return "(" + list + ")";
}

std::string Described(const Plan& plan, std::size_t number) {
  const PlannedRun& run = plan.runs[number];
  std::vector<std::string> environment;
  for (const auto& [name, value] : run.env)
    environment.push_back(name + "=" + value);
  return fmt::format(
      "    {})\n"
      "      title={}\n"
      "      group_title={}\n"
      "      directory={}\n"
      "      values={}\n"
      "      environment={}\n"
      "      command={}\n"
      "      ;;\n",
      number, ShellQuote(RunTitle(plan, run)), ShellQuote(GroupTitle(plan, run)),
      ShellQuote(run.directory), Words(run.values), Words(environment), Words(run.command));
}

std::string Head(const Plan& plan, Scheduler scheduler) {
  std::string axes;
  for (const Axis& axis : plan.axes)
    axes += (axes.empty() ? "" : " x ") + axis.name;
  std::string head = "#!/usr/bin/env bash\n";
  if (scheduler == Scheduler::kSlurm) {
    head += fmt::format(
        "#SBATCH --job-name=jarvis-sweep\n"
        "#SBATCH --array=0-{}\n"
        "#SBATCH --nodes=1\n"
        "#SBATCH --exclusive\n"
        "#SBATCH --signal=B:TERM@60\n",
        plan.runs.size() - 1);
  }
  head += fmt::format(
      "# A sweep of {}: {} runs, planned by jarvis. Once more: it goes on where it\n"
      "# stopped.\n",
      axes, plan.runs.size());
  if (scheduler == Scheduler::kSlurm) {
    head +=
        "# bash THIS [options of sbatch]: submits an array with a task a run, and a job that\n"
        "# writes the summary after them.\n";
  }
  return head + "# The rest is the same for every sweep but for the values here.\nset -u\n";
}

}  // namespace

Result<Skip> SkipOf(std::string_view name) {
  for (std::size_t i = 0; i < kSkipNames.size(); ++i) {
    if (name == kSkipNames[i]) return static_cast<Skip>(i);
  }
  return Fail(ErrorCode::kBadValue, "skip: expected none, existing or complete");
}

std::string_view SkipName(Skip skip) {
  return kSkipNames.at(static_cast<std::size_t>(skip));
}

std::string MakeScript(const Plan& plan, const ScriptOptions& options) {
  std::string script = Head(plan, options.scheduler);
  script += fmt::format(
      "scheduler={}\n"
      "sweep_dir={}\n"
      "work_dir={}\n"
      "nproc={}\n"
      "skip={}\n"
      "aggregate={}\n"
      "pause_s={}\n"
      "grace_s={}\n"
      "runs={}\n"
      "group_size={}\n"
      "axis_titles={}\n\n",
      options.scheduler == Scheduler::kSlurm ? "slurm" : "none", ShellQuote(plan.sweep_dir),
      ShellQuote(options.workdir.empty() ? "." : options.workdir), plan.nproc,
      SkipName(options.skip), options.aggregate ? "yes" : "no", options.pause_s, kGraceSeconds,
      plan.runs.size(), GroupSize(plan), Words(AxisTitles(plan)));
  script +=
      "# describe N: what the run N is. Values are taken as they are.\n"
      "# shellcheck disable=SC2016\ndescribe() {\n  case $1 in\n";
  for (std::size_t number = 0; number < plan.runs.size(); ++number)
    script += Described(plan, number);
  script += "  esac\n}\n\n";
  script += ScriptFiles().front().text;
  return script;
}

}  // namespace jarvis::launch
