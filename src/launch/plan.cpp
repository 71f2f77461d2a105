#include "launch/plan.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.h"

namespace jarvis::launch {
namespace {

constexpr std::size_t kCommandWordsMax = 1000;
constexpr std::size_t kCommandBytesMax = std::size_t{64} << 10;

// A text as a file's name: what could lead elsewhere or surprise a shell becomes "_".
std::string FileName(std::string name) {
  for (char& c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("._+-=,@").find(c) != std::string_view::npos;
    if (!plain) c = '_';
  }
  if (name.starts_with('.')) name.insert(0, "_");  // neither hidden nor a parent
  return name.substr(0, 200);
}

std::string Replaced(std::string text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

// A word of the template with its placeholders filled. What was put in is not looked at again.
std::string Filled(std::string_view word, const Environment& known) {
  std::string filled;
  while (!word.empty()) {
    const std::size_t open = word.find('{');
    filled += word.substr(0, open);
    if (open == std::string_view::npos) break;
    word.remove_prefix(open);
    const auto hit = std::find_if(known.begin(), known.end(), [&](const auto& one) {
      return word.substr(1).starts_with(one.first) &&
             word.substr(1 + one.first.size()).starts_with('}');
    });
    if (hit == known.end()) {
      filled += '{';
      word.remove_prefix(1);
    } else {
      filled += hit->second;
      word.remove_prefix(hit->first.size() + 2);
    }
  }
  return filled;
}

Status CheckCommand(const std::vector<std::string>& command) {
  std::size_t bytes = 0;
  for (const std::string& word : command) {
    bytes += word.size();
    if (word.find('\0') != std::string::npos) {
      return Fail(ErrorCode::kBadValue, "a word of the command has a NUL in it");
    }
  }
  if (command.size() > kCommandWordsMax || bytes > kCommandBytesMax) {
    return Fail(ErrorCode::kTooLarge, fmt::format("a command has at most {} words of {} bytes",
                                                  kCommandWordsMax, kCommandBytesMax));
  }
  if (command.front().empty() || command.front().find('=') != std::string::npos) {
    return Fail(ErrorCode::kBadValue,
                "command: the first word is the program, the others its arguments",
                "variables are set by an axis, not by the command");
  }
  return {};
}

// Threads and channels go innermost, whatever the order in which axes were named.
std::vector<AxisRequest> InOrder(std::vector<AxisRequest> axes) {
  if (axes.empty()) {
    axes = {{std::string(kThreads), {}, {}, {}}, {std::string(kChannels), {}, {}, {}}};
  }
  const auto depth = [](const AxisRequest& axis) {
    if (axis.name == kThreads) return 1;
    return axis.name == kChannels || axis.name == "exact_channels" ? 2 : 0;
  };
  std::stable_sort(axes.begin(), axes.end(),
                   [&](const AxisRequest& a, const AxisRequest& b) { return depth(a) < depth(b); });
  return axes;
}

Result<std::vector<Axis>> AxesOf(const PlanRequest& request) {
  std::vector<Axis> axes;
  std::set<std::string> names;
  std::set<std::string> variables;
  for (const AxisRequest& one : InOrder(request.axes)) {
    JV_ASSIGN(Axis axis, ResolveAxis(one, request.vendor));
    if (!names.insert(axis.name).second) {
      return Fail(ErrorCode::kBadValue, fmt::format("the axis {} is given twice", axis.name));
    }
    for (const std::string& variable : axis.env) {
      if (!variables.insert(variable).second) {
        return Fail(ErrorCode::kBadValue, fmt::format("two axes set {}", variable));
      }
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

Status CheckCount(const std::vector<Axis>& axes) {
  std::size_t count = 1;
  for (const Axis& axis : axes)
    count *= axis.values.size();  // at most 100 each, and stopped long before an overflow
  if (axes.size() <= 8 && count <= kRunsMax) return {};
  return Fail(ErrorCode::kTooLarge,
              fmt::format("that are more than {} runs, or more than 8 axes", kRunsMax),
              "give fewer values or axes");
}

class Planner {
 public:
  Planner(const PlanRequest& request, const std::vector<std::string>& command, Plan* plan)
      : request_(request), command_(command), plan_(*plan) {}

  void Run() {
    std::vector<std::string> values;
    Add(values);
  }

 private:
  void Add(std::vector<std::string>& values) {
    if (values.size() == plan_.axes.size()) {
      plan_.runs.push_back(Make(values));
      return;
    }
    for (const std::string& value : plan_.axes[values.size()].values) {
      values.push_back(value);
      Add(values);
      values.pop_back();
    }
  }

  PlannedRun Make(const std::vector<std::string>& values) const {
    PlannedRun run;
    run.values = values;
    run.env = CommonEnvironment(request_.vendor);
    Environment known;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Axis& axis = plan_.axes[i];
      run.directory += run.directory.empty() ? "" : "/";
      run.directory += FileName(Replaced(axis.directory, "{value}", values[i]));
      known.emplace_back(axis.name, values[i]);
      for (const std::string& variable : axis.env) {
        std::erase_if(run.env, [&](const auto& one) { return one.first == variable; });
        run.env.emplace_back(variable, values[i]);
      }
    }
    const std::string run_dir = request_.sweep_dir + "/" + run.directory;
    known.insert(known.end(), {{"run_dir", run_dir},
                               {"sweep_dir", request_.sweep_dir},
                               {"config", request_.config},
                               {"nproc", std::to_string(request_.nproc)}});
    run.command = Wrapper(run_dir);
    for (const std::string& word : command_)
      run.command.push_back(Filled(word, known));
    return run;
  }

  std::vector<std::string> Wrapper(const std::string& run_dir) const {
    const RocprofRequest& rocprof = request_.rocprof;
    if (!rocprof.enabled) return {};
    std::vector<std::string> words = {"rocprofv3"};
    if (!rocprof.input.empty()) {
      words.insert(words.end(), {"-i", rocprof.input});
    } else {
      words.emplace_back("--kernel-trace");
      if (rocprof.stats) words.emplace_back("--stats");
    }
    words.insert(words.end(), {"-d", run_dir + "/rocprof_traces", "--"});
    return words;
  }

  const PlanRequest& request_;
  const std::vector<std::string>& command_;
  Plan& plan_;
};

Status CheckDirectories(const Plan& plan) {
  std::set<std::string> seen;
  for (const PlannedRun& run : plan.runs) {
    if (seen.insert(run.directory).second) continue;
    return Fail(ErrorCode::kBadValue,
                fmt::format("two runs would lie in {}: in names, characters that are not letters, "
                            "digits or ._+-=,@ become _",
                            run.directory),
                "give one of the axes another directory pattern or other values");
  }
  return {};
}

bool Names(const std::vector<std::string>& command, std::string_view part) {
  return std::any_of(command.begin(), command.end(),
                     [&](const std::string& word) { return word.find(part) != std::string::npos; });
}

void AddWarnings(const PlanRequest& request, const std::vector<std::string>& command, Plan* plan) {
  std::vector<std::string>& warnings = plan->warnings;
  for (const Axis& axis : plan->axes) {
    if (!axis.note.empty()) warnings.push_back(axis.name + ": " + axis.note);
  }
  if (!Names(command, "{run_dir}")) {
    warnings.emplace_back(
        "the command does not name {run_dir}, so every run may write its traces to the same place");
  }
  const RocprofRequest& rocprof = request.rocprof;
  if (!rocprof.enabled && (rocprof.stats || !rocprof.input.empty())) {
    warnings.emplace_back("stats and rocprof_input do nothing without rocprof");
  }
  if (rocprof.enabled && rocprof.stats && !rocprof.input.empty()) {
    warnings.emplace_back("stats does nothing beside rocprof_input: the file says what is traced");
  }
}

}  // namespace

const std::vector<std::string>& DefaultCommand() {
  static const std::vector<std::string> command = {"torchrun",
                                                   "--nproc_per_node",
                                                   "{nproc}",
                                                   "train.py",
                                                   "--config",
                                                   "{config}",
                                                   "--override",
                                                   "profiling.tensorboard=false",
                                                   "training.output_dir={run_dir}"};
  return command;
}

Result<Plan> MakePlan(const PlanRequest& request) {
  if (request.rocprof.enabled && request.vendor == Vendor::kNvidia) {
    return Fail(ErrorCode::kBadValue, "rocprof profiles AMD GPUs; the vendor is nvidia",
                "leave rocprof away");
  }
  const std::vector<std::string>& command =
      request.command.empty() ? DefaultCommand() : request.command;
  JV_TRY(CheckCommand(command));
  Plan plan;
  plan.sweep_dir = request.sweep_dir;
  plan.nproc = request.nproc;
  JV_ASSIGN(plan.axes, AxesOf(request));
  JV_TRY(CheckCount(plan.axes));
  Planner(request, command, &plan).Run();
  JV_TRY(CheckDirectories(plan));
  AddWarnings(request, command, &plan);
  return plan;
}

std::string RunTitle(const Plan& plan, const PlannedRun& run) {
  std::string title;
  for (std::size_t i = 0; i < plan.axes.size(); ++i) {
    title += fmt::format("{}{}={}", title.empty() ? "" : ", ", UpperAscii(plan.axes[i].name),
                         OneLine(run.values[i]));
  }
  return title;
}

std::string ShellQuote(std::string_view text) {
  return "'" + Replaced(std::string(text), "'", "'\\''") + "'";
}

std::string CommandLine(const std::vector<std::string>& command) {
  std::string line;
  for (const std::string& word : command) {
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             std::string_view("_-./=:,@%+").find(c) != std::string_view::npos;
    });
    line += (line.empty() ? "" : " ") + (plain ? word : ShellQuote(word));
  }
  return line;
}

}  // namespace jarvis::launch
