#include "app/sweep_flags.h"

#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "app/tool_flags.h"

namespace jarvis::app {
namespace {

// Other spellings of flags that the tool has. `value`: it needs one.
struct Spelling {
  std::string_view given;
  std::string_view flag;
  bool value;
};
constexpr Spelling kSpellings[] = {
    {"-f", "--config", true},           {"-p", "--nproc", true},
    {"-o", "--output-dir", true},       {"--sweep-dir", "--output-dir", true},
    {"-s", "--skip=existing", false},   {"--skip-existing", "--skip=existing", false},
    {"-n", "--no-aggregate", false},    {"--pause", "--pause-s", true},
    {"--timeout", "--timeout-s", true},
};

class Parser {
 public:
  explicit Parser(Arguments arguments) : arguments_(arguments) {}

  Result<SweepFlags> Parse(const Json& schema) {
    while (at_ < arguments_.size() && arguments_[at_] != "--")
      JV_TRY(One());
    for (++at_; at_ < arguments_.size(); ++at_)
      command_.push_back(arguments_[at_]);
    std::vector<std::string_view> words(left_.begin(), left_.end());
    JV_ASSIGN(ToolFlags flags, ParseToolFlags(schema, words));
    out_.arguments = std::move(flags.arguments);
    out_.json = flags.json;
    out_.help = out_.help || flags.help;
    if (!command_.empty()) out_.arguments["command"] = command_;
    AddAxes();
    AddRocprof();
    return std::move(out_);
  }

 private:
  Status One() {
    const std::string_view word = arguments_[at_];
    const std::size_t equals = word.starts_with("--") ? word.find('=') : std::string_view::npos;
    const std::string_view name = word.substr(0, equals);
    std::string value;
    const auto take = [&]() -> Status {
      if (equals != std::string_view::npos) {
        value = word.substr(equals + 1);
      } else if (at_ + 1 < arguments_.size()) {
        value = arguments_[++at_];
      } else {
        return Fail(ErrorCode::kBadValue, fmt::format("{} needs a value", name));
      }
      return {};
    };
    if (name == "-c" || name == "--channels") {
      JV_TRY(take());
      channels_ = "channels=" + value;
    } else if (name == "-t" || name == "--threads") {
      JV_TRY(take());
      threads_ = "threads=" + value;
    } else if (name == "--axis" || name == "--axes") {
      JV_TRY(take());
      axes_.push_back(value);
    } else if (name == "--rocprof-input" || name == "--rocprof_input") {
      JV_TRY(take());
      rocprof_["yaml"] = value;
    } else if (name == "-m" || name == "--stats") {
      rocprof_["stats"] = true;
    } else if (name == "-r" || name == "--rocprof") {
      rocprof_on_ = true;
    } else if (name == "-y" || name == "--yes" || name == "--confirm") {
      out_.yes = true;
    } else if (name == "-h") {
      out_.help = true;
    } else {
      JV_TRY(Other(word, name, take, value));
    }
    ++at_;
    return {};
  }

  template <typename Take>
  Status Other(std::string_view word, std::string_view name, const Take& take,
               const std::string& value) {
    for (const Spelling& spelling : kSpellings) {
      if (spelling.given != name) continue;
      if (!spelling.value) {
        left_.emplace_back(spelling.flag);
        return {};
      }
      JV_TRY(take());
      left_.push_back(fmt::format("{}={}", spelling.flag, value));
      return {};
    }
    left_.emplace_back(word);
    return {};
  }

  // As in the script: threads alone are with the usual channels, and the other way round. With
  // other axes there are these alone.
  void AddAxes() {
    if (threads_.empty() && channels_.empty() && axes_.empty()) return;
    Json& axes = out_.arguments["axes"] = Json::array();
    for (const std::string& axis : axes_)
      axes.push_back(axis.starts_with('{') ? ParseJson(axis).value_or(Json(axis)) : Json(axis));
    if (!threads_.empty() || axes_.empty()) axes.push_back(threads_.empty() ? "threads" : threads_);
    if (!channels_.empty() || axes_.empty())
      axes.push_back(channels_.empty() ? "channels" : channels_);
  }

  void AddRocprof() {
    if (!rocprof_on_ && rocprof_.empty()) return;
    rocprof_["enable"] = rocprof_on_;
    out_.arguments["rocprof"] = rocprof_;
  }

  const Arguments arguments_;
  std::size_t at_ = 0;
  std::string threads_;
  std::string channels_;
  std::vector<std::string> axes_;
  Json rocprof_ = Json::object();
  bool rocprof_on_ = false;
  std::vector<std::string> left_;  // for the tool's own flags
  std::vector<std::string_view> command_;
  SweepFlags out_;
};

constexpr std::string_view kFlags =
    "  -t, --threads LIST       NCCL/RCCL threads per block; default: 256,512\n"
    "  -c, --channels LIST      at most so many channels; default: 28,42,56,70\n"
    "  --axis NAME=V,V          a further axis: a knob (exact_channels, min_channels, algo, "
    "proto,\n"
    "                           buffsize, hw_queues) or any environment variable; or JSON:\n"
    "                           {\"name\":..., \"env\":[...], \"values\":[...], "
    "\"directory\":...};\n"
    "                           repeat for more. With --axis the first two must be named to be "
    "axes\n"
    "  --vendor amd|nvidia      whose variables; default: amd\n"
    "  -f, --config FILE        of the workload; default: config/distributed.yaml\n"
    "  -p, --nproc N            processes; default: 8\n"
    "  -o, --output-dir DIR     the sweep's directory (--sweep-dir is the same);\n"
    "                           default: experiments/sweep, with the time for run\n"
    "  -r, --rocprof            run under rocprofv3, all kernels\n"
    "  -m, --stats              with its statistics\n"
    "  --rocprof-input FILE     with the jobs of this YAML file\n"
    "  -s, --skip-existing      pass over runs whose directory is there, finished or not\n"
    "  --skip WHICH             none, existing or complete (ended well and a whole trace of every\n"
    "                           rank); default: complete\n"
    "  -n, --no-aggregate       no table of runs at the end\n"
    "  --pause SECONDS          between runs; default: 0, as a run is over when all its processes\n"
    "                           are gone\n"
    "  --workdir DIR            where commands start; default: here\n"
    "  --json                   print the answer as one line of JSON\n";

}  // namespace

Result<SweepFlags> ParseSweepFlags(const Json& schema, Arguments arguments) {
  return Parser(arguments).Parse(schema);
}

std::string SweepFlagsHelp(bool run) {
  std::string text =
      run ? "Run a training job once for each setting.\n\n"
            "usage: jarvis sweep run --yes [flags] [-- COMMAND WORD...]\n\n"
            "Without --yes it prints what would run, and runs nothing. One run after the other, "
            "each\n"
            "with its output in run_output.log; a run that fails does not stop the rest. The "
            "directory\n"
            "gets a log, the table of runs and sweep.json. The same command goes on where it "
            "stopped.\n"
            "Ctrl-C ends the processes of the run, and no others; the exit code is 130 then, 1 if "
            "a\n"
            "run failed.\n"
          : "Say what a sweep would run, or write a script that runs it.\n\n"
            "usage: jarvis sweep plan [--format json|sh|slurm] [flags] [-- COMMAND WORD...]\n\n"
            "sh and slurm write DIR/run_sweep.sh and DIR/run_sweep.sbatch.\n";
  text +=
      "\nCOMMAND: torchrun --nproc_per_node N train.py --config FILE --override ..., or yours, "
      "where\n"
      "{run_dir}, {config}, {nproc} and {AXIS} stand for the run's. No shell looks at it.\n\n";
  text += kFlags;
  if (run) {
    text +=
        "  --timeout SECONDS        of one run, which has failed then\n"
        "  --max-failures N         stop after so many failed runs\n";
  }
  return text;
}

}  // namespace jarvis::app
