// jarvis sweep NAME ...: what there is for a sweep, each a tool with some arguments given.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "app/cache_options.h"
#include "app/commands.h"
#include "app/console.h"
#include "app/exit_code.h"
#include "app/help.h"
#include "app/script_flags.h"
#include "app/sweep_flags.h"
#include "app/tool_flags.h"
#include "app/tool_run.h"
#include "app/toolbox.h"
#include "rpc/signal_watcher.h"
#include "tools/sweep/text.h"

namespace jarvis::app {
namespace {

struct Subcommand {
  std::string_view name;
  std::string_view tool;
  std::string_view preset;  // JSON: arguments that are given
  std::string_view summary;
};

constexpr Subcommand kSubcommands[] = {
    {"scan", "sweep_scan", "{}", "List the runs, damaged traces, and what was really launched."},
    {"pipeline", "sweep_pipeline", "{}", "Write all tables, reports and plots of a sweep."},
    {"report", "sweep_pipeline", R"({"steps": ["report"]})",
     "Write the reports of ranks and collectives."},
    {"gemm-variance", "sweep_pipeline", R"({"steps": ["gemm_variance"]})",
     "List the GEMM kernels whose time varies most, and the cost of collectives."},
    {"gpu-timeline", "sweep_pipeline", R"({"steps": ["gpu_timeline"]})",
     "Show computation, communication and idle time by configuration."},
    {"comms", "sweep_pipeline", R"({"steps": ["comms"]})",
     "Show latency and bandwidth of every collective."},
    {"plots", "sweep_pipeline", R"({"steps": ["plots"]})",
     "Write plots as SVG; with --png also as PNG."},
    {"compare", "sweep_compare", "{}", "Compare sweeps, as a page for the browser."},
    {"recommend", "sweep_recommend", "{}",
     "Recommend a configuration, and state how certain that is."},
    {"compare-runs", "run_compare", "{}",
     "Compare single runs with the baseline, which comes first."},
    {"merge-trace", "merge_ranks", "{}", "Write one trace of all ranks of a run, for a viewer."},
    {"rocprof-counters", "rocprof_counters", "{}", "Show counters of rocprofv3 by kernel."},
    {"rocprof-yaml", "rocprof_yaml", "{}",
     "Write a job for rocprofv3 that profiles chosen kernels."},
    {"decode", "gemm_kernel_decode", "{}", "Decode names of GEMM kernels."},
    {"plan", "sweep_plan", "{}", "List what would run, or write a script for bash or Slurm."},
    {"run", "sweep_run", "{}", "Run the job once for each setting; with --yes."},
};

std::string SweepHelp() {
  std::string text =
      "Plan, run and analyze runs of a training job over settings of its collectives.\n\n"
      "usage: jarvis sweep NAME [--name value ...]\n\n";
  for (const Subcommand& one : kSubcommands)
    text += fmt::format("  {:<16} {}\n", one.name, one.summary);
  return text + "\njarvis sweep NAME --help explains the arguments.\n";
}

const Subcommand* Find(std::string_view name) {
  std::string spelled(name);
  std::replace(spelled.begin(), spelled.end(), '_', '-');
  const auto* found = std::find_if(std::begin(kSubcommands), std::end(kSubcommands),
                                   [&](const Subcommand& one) { return one.name == spelled; });
  return found == std::end(kSubcommands) ? nullptr : found;
}

// The plan for the person's eyes, then the runs if they said yes.
int RunRuns(const mcp::Tool& tool, const SweepFlags& flags) {
  Json arguments = flags.arguments;
  arguments["confirm"] = false;
  mcp::ToolReply plan;
  if (const int code = RunTool(tool, arguments, &plan); code != kExitOk) return code;
  if (!flags.yes) {
    const std::string text =
        flags.json ? DumpLine(plan.structured) : tools::PlanText(plan.structured);
    if (!Print(text)) return kExitFailure;
    PrintError("nothing was run: --yes runs it");
    return kExitFailure;
  }
  PrintError(tools::PlanText(plan.structured));
  arguments["confirm"] = true;
  arguments["output_dir"] = plan.structured["sweep_dir"];  // what was shown is what runs
  mcp::ToolReply reply;
  if (const int code = RunTool(tool, arguments, &reply); code != kExitOk) {
    return code > kExitSignal ? kExitInterrupted : code;
  }
  if (!Print(flags.json ? DumpLine(reply.structured) : reply.text)) return kExitFailure;
  return reply.structured["failed"] == Json(0) ? kExitOk : kExitFailure;
}

// plan and run take the flags of the script that they stand for.
int PlanOrRun(const Subcommand& subcommand, Arguments arguments) {
  const bool run = subcommand.name == "run";
  session::WorkspaceOptions options;
  options.cache = CacheOptions();
  options.may_execute = run;  // the person at the keyboard may run anything anyway
  const Toolbox toolbox{session::Workspace(options)};
  const mcp::Tool& tool = *toolbox.tools.Find(subcommand.tool);
  const auto flags = ParseSweepFlags(tool, arguments);
  if (!flags) {
    return UsageError(flags.error().message,
                      fmt::format("jarvis sweep {} --help", subcommand.name));
  }
  if (flags->help) return Print(SweepFlagsHelp(run)) ? kExitOk : kExitFailure;
  if (run) return RunRuns(tool, *flags);
  if (flags->json || flags->arguments.value("format", "") == "json")
    return RunTool(tool, flags->arguments, Output::kJson);
  mcp::ToolReply reply;
  if (const int code = RunTool(tool, flags->arguments, &reply); code != kExitOk) return code;
  return Print(tools::PlanText(reply.structured)) ? kExitOk : kExitFailure;
}

}  // namespace

int Sweep(Arguments arguments) {
  if (arguments.empty()) return UsageError("sweep what?", "jarvis sweep --help");
  const std::string_view name = arguments.front();
  if (name == "--help" || name == "-h") return Print(SweepHelp()) ? kExitOk : kExitFailure;
  const Subcommand* subcommand = Find(name);
  if (subcommand == nullptr) {
    std::vector<std::string> known;
    for (const Subcommand& one : kSubcommands)
      known.emplace_back(one.name);
    return UsageError(Unknown("subcommand", name, known), "jarvis sweep --help");
  }
  static_cast<void>(rpc::SignalWatcher::Block());
  std::vector<std::string_view> spelled(arguments.begin() + 1, arguments.end());
  if (subcommand->name == "plan" || subcommand->name == "run")
    return PlanOrRun(*subcommand, Arguments(spelled));
  const std::vector<std::string> own = FromScriptFlags(subcommand->tool, Arguments(spelled));
  spelled.assign(own.begin(), own.end());
  const Arguments rest(spelled);
  const Toolbox toolbox;
  const mcp::Tool& tool = *toolbox.tools.Find(subcommand->tool);
  const auto flags = ParseToolFlags(tool, rest);
  if (!flags)
    return UsageError(flags.error().message, "jarvis sweep " + std::string(name) + " --help");
  if (flags->help) {
    const std::string command = fmt::format("sweep {}", subcommand->name);
    return Print(ToolHelp(tool, command)) ? kExitOk : kExitFailure;
  }
  Json all = *ParseJson(subcommand->preset);
  all.update(flags->arguments);
  return RunTool(tool, all, flags->json ? Output::kJson : Output::kText);
}

}  // namespace jarvis::app
