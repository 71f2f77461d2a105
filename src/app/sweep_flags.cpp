#include "app/sweep_flags.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/flags.h"
#include "app/tool_flags.h"

namespace jarvis::app {
namespace {

// What the flags said, before it becomes arguments of the tool.
struct SweepWords {
  std::string threads;   // "threads=256,512"; empty: not given
  std::string channels;  // likewise
  std::vector<std::string> axes;
  Json rocprof = Json::object();  // how it runs
  bool rocprof_on = false;
  bool yes = false;
  bool help = false;
  std::vector<std::string> left;  // for the tool's own flags
};

// Another spelling of a flag that the tool has.
SetValue As(std::string_view flag, SweepWords* words) {
  return [flag, words](std::string_view, std::string_view value) -> Status {
    words->left.push_back(fmt::format("{}={}", flag, value));
    return {};
  };
}

SetSwitch Instead(std::string_view flag, SweepWords* words) {
  return [flag, words] { words->left.emplace_back(flag); };
}

SetValue Axis(std::string_view name, std::string* axis) {
  return [name, axis](std::string_view, std::string_view values) -> Status {
    *axis = fmt::format("{}={}", name, values);
    return {};
  };
}

// Told among ours, in its place; the tool's own parser takes it.
Flag OfTool(std::string_view help) {
  return {{}, SetSwitch([] {}), std::string(help)};
}

std::vector<Flag> FlagsOfAxes(SweepWords* words) {
  return {
      {{"--threads", "-t"},
       Axis("threads", &words->threads),
       "  -t, --threads LIST       NCCL/RCCL threads per block; default: 256,512\n"},
      {{"--channels", "-c"},
       Axis("channels", &words->channels),
       "  -c, --channels LIST      maximum number of channels; default: 28,42,56,70\n"},
      {{"--axis", "--axes"},
       Repeated{&words->axes},
       "  --axis NAME=V,V          a further axis: a setting (exact_channels, min_channels, algo, "
       "proto,\n"
       "                           buffsize, hw_queues) or any environment variable; or JSON:\n"
       "                           {\"name\":..., \"env\":[...], \"values\":[...], "
       "\"directory\":...};\n"
       "                           repeat for more. With --axis, threads and channels are axes "
       "only "
       "if given\n"},
      OfTool("  --vendor amd|nvidia      whose environment variables to set; default: amd\n"),
  };
}

std::vector<Flag> FlagsOfRuns(SweepWords* words) {
  return {
      {{"--config", "-f"},
       As("--config", words),
       "  -f, --config FILE        configuration of the workload; default: "
       "config/distributed.yaml\n"},
      {{"--nproc", "-p"},
       As("--nproc", words),
       "  -p, --nproc N            number of processes; default: 8\n"},
      {{"-o", "--sweep-dir"},
       As("--output-dir", words),
       "  -o, --output-dir DIR     the sweep's directory (--sweep-dir is the same);\n"
       "                           default: experiments/sweep, with the time for run\n"},
      {{"--rocprof", "-r"},
       &words->rocprof_on,
       "  -r, --rocprof            run under rocprofv3, all kernels\n"},
      {{"--stats", "-m"},
       SetSwitch([words] { words->rocprof["stats"] = true; }),
       "  -m, --stats              record rocprofv3's statistics, too\n"},
      {{"--rocprof-input", "--rocprof_input"},
       SetValue([words](std::string_view, std::string_view value) -> Status {
         words->rocprof["yaml"] = value;
         return {};
       }),
       "  --rocprof-input FILE     run rocprofv3 with the jobs of this YAML file\n"},
      {{"--skip-existing", "-s"},
       Instead("--skip=existing", words),
       "  -s, --skip-existing      skip runs whose directory exists, finished or not\n"},
      OfTool("  --skip WHICH             none, existing or complete (exit code 0, and a whole "
             "trace of "
             "every\n"
             "                           rank); default: complete\n"),
      {{"-n"},
       Instead("--no-aggregate", words),
       "  -n, --no-aggregate       write no table of runs at the end\n"},
      {{"--pause"},
       As("--pause-s", words),
       "  --pause SECONDS          pause between runs; default: 0\n"},
      OfTool("  --workdir DIR            directory in which commands start; default: this one\n"
             "  --json                   print the answer as one line of JSON\n"),
  };
}

std::vector<Flag> FlagsOfRun(SweepWords* words) {
  return {
      {{"--timeout"},
       As("--timeout-s", words),
       "  --timeout SECONDS        time limit of one run, after which it counts as failed\n"},
      OfTool("  --max-failures N         stop after N failed runs\n"),
      {{"--yes", "-y", "--confirm"}, &words->yes},
      {{"-h"}, &words->help},
  };
}

std::vector<Flag> AllSweepFlags(SweepWords* words) {
  std::vector<Flag> all = FlagsOfAxes(words);
  for (std::vector<Flag> some : {FlagsOfRuns(words), FlagsOfRun(words)})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

// As in the script: threads alone are with the usual channels, and the other way round. With other
// axes there are these alone.
void AddAxes(const SweepWords& words, Json* arguments) {
  if (words.threads.empty() && words.channels.empty() && words.axes.empty()) return;
  Json& axes = (*arguments)["axes"] = Json::array();
  for (const std::string& axis : words.axes)
    axes.push_back(axis.starts_with('{') ? ParseJson(axis).value_or(Json(axis)) : Json(axis));
  const bool usual = words.axes.empty();
  if (!words.threads.empty() || usual)
    axes.push_back(words.threads.empty() ? "threads" : words.threads);
  if (!words.channels.empty() || usual)
    axes.push_back(words.channels.empty() ? "channels" : words.channels);
}

void AddRocprof(const SweepWords& words, Json* arguments) {
  if (!words.rocprof_on && words.rocprof.empty()) return;
  Json& rocprof = (*arguments)["rocprof"] = words.rocprof;
  rocprof["enable"] = words.rocprof_on;
}

}  // namespace

Result<SweepFlags> ParseSweepFlags(const mcp::Tool& tool, Arguments arguments) {
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  const auto ours = static_cast<std::size_t>(dashes - arguments.begin());
  SweepWords words;
  FlagRules rules;
  rules.other = [&](std::string_view word, bool) -> Status {
    words.left.emplace_back(word);
    return {};
  };
  JV_TRY(ParseFlags(AllSweepFlags(&words), arguments.first(ours), rules));
  const std::vector<std::string_view> left(words.left.begin(), words.left.end());
  JV_ASSIGN(ToolFlags flags, ParseToolFlags(tool, left));
  SweepFlags out{std::move(flags.arguments), words.yes, flags.json, words.help || flags.help};
  if (dashes != arguments.end()) {
    const std::vector<std::string_view> command(dashes + 1, arguments.end());
    if (!command.empty()) out.arguments["command"] = command;
  }
  AddAxes(words, &out.arguments);
  AddRocprof(words, &out.arguments);
  return out;
}

std::string SweepFlagsHelp(bool run) {
  std::string text =
      run ? "Run a training job once for each setting.\n\n"
            "usage: jarvis sweep run --yes [flags] [-- COMMAND WORD...]\n\n"
            "Without --yes it prints what would run, and runs nothing. Runs follow one another; "
            "each has\n"
            "its output in run_output.log, and a run that fails does not stop the others. The\n"
            "directory gets a log, the table of runs and sweep.json. The same command continues\n"
            "where it stopped. Ctrl-C ends the processes of the run, and no others. The exit code "
            "is\n"
            "130 then, and 1 if a run failed.\n"
          : "Print what a sweep would run, or write a script that runs it.\n\n"
            "usage: jarvis sweep plan [--format json|sh|slurm] [flags] [-- COMMAND WORD...]\n\n"
            "sh and slurm write DIR/run_sweep.sh and DIR/run_sweep.sbatch.\n";
  text +=
      "\nCOMMAND: torchrun --nproc_per_node N train.py --config FILE --override ..., or yours, "
      "where\n"
      "{run_dir}, {config}, {nproc} and {AXIS} are replaced for each run. No shell expands it.\n\n";
  SweepWords words;
  text += FlagsHelp(FlagsOfAxes(&words)) + FlagsHelp(FlagsOfRuns(&words));
  return run ? text + FlagsHelp(FlagsOfRun(&words)) : text;
}

}  // namespace jarvis::app
