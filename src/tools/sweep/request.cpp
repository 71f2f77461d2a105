#include "tools/sweep/request.h"

#include <algorithm>

#include <fmt/format.h>
#include <sys/stat.h>

#include "base/text.h"
#include "io/input_folder.h"
#include "io/text_file.h"
#include "launch/yaml_check.h"
#include "tools/shared/arguments.h"

namespace jarvis::tools {
namespace {

// What the runs may take of an answer; its rows say the rest.
constexpr std::size_t kRunsBytesMax = 4400;
constexpr std::size_t kYamlBytesMax = std::size_t{1} << 20;

tl::unexpected<Error> WrongAxis(const Json& axis) {
  return Fail(ErrorCode::kBadValue, fmt::format("axes: {} is no axis", Excerpt(axis, 80)),
              R"(write "NCCL_ALGO=Ring,Tree" or {"name": "algo", "env": ["NCCL_ALGO"], )"
              R"("values": ["Ring", "Tree"], "directory": "algo_{value}"})");
}

// A list of texts or numbers, or one of them.
std::optional<std::vector<std::string>> Texts(const Json& json) {
  std::vector<std::string> texts;
  for (const Json& item : json.is_array() ? json : Json::array({json})) {
    if (!item.is_string() && !item.is_number_integer()) return std::nullopt;
    texts.push_back(item.is_string() ? item.get<std::string>() : item.dump());
  }
  return texts;
}

Result<launch::AxisRequest> ReadAxis(const Json& json) {
  if (json.is_string()) return launch::ParseAxis(json.get<std::string>());
  launch::AxisRequest axis;
  if (!json.is_object()) return WrongAxis(json);
  for (const auto& [name, value] : json.items()) {
    const auto texts = Texts(value);
    if (!texts) return WrongAxis(json);
    if (name == "name" && value.is_string()) {
      axis.name = value.get<std::string>();
    } else if (name == "directory" && value.is_string()) {
      axis.directory = value.get<std::string>();
    } else if (name == "env") {
      axis.env = *texts;
    } else if (name == "values") {
      axis.values = *texts;
    } else {
      return WrongAxis(json);
    }
  }
  if (axis.name.empty()) return WrongAxis(json);
  return axis;
}

Result<launch::RocprofRequest> ReadRocprof(const io::FilePolicy& files, const Json& json) {
  launch::RocprofRequest rocprof;
  rocprof.enabled = true;
  for (const auto& [name, value] : json.items()) {
    if (name == "enable" && value.is_boolean()) {
      rocprof.enabled = value.get<bool>();
    } else if (name == "stats" && value.is_boolean()) {
      rocprof.stats = value.get<bool>();
    } else if (name == "yaml" && value.is_string()) {
      JV_ASSIGN(rocprof.input, files.ResolveInput(value.get<std::string>()));
    } else {
      return Fail(ErrorCode::kBadValue, fmt::format("rocprof: {} is not known", Excerpt(json, 80)),
                  R"(write {"yaml": FILE}, {"stats": true} or {})");
    }
  }
  return rocprof;
}

// A number of the arguments within limits.
Result<std::optional<double>> NumberOf(const Json& arguments, const char* name, double least,
                                       double most) {
  const auto found = arguments.find(name);
  if (found == arguments.end()) return std::nullopt;
  const double value = found->get<double>();
  if (value >= least && value <= most) return value;
  return Fail(ErrorCode::kBadValue,
              fmt::format("{}: expected {} to {}, received {}", name, least, most, value));
}

Result<std::string> WorkDirectory(const io::FilePolicy& files, const std::string& given) {
  if (given.empty()) return given;
  JV_ASSIGN(std::string path, files.ResolveInput(given));
  if (io::IsInputFolder(files, given)) return path;
  return Fail(ErrorCode::kBadValue, fmt::format("workdir: \"{}\" is no directory", given));
}

// Runs with their environment and command, as many as fit.
void AddRuns(const PlannedSweep& planned, Json* facts) {
  Json& runs = (*facts)["runs"] = Json::array();
  std::size_t bytes = 0;
  for (const launch::PlannedRun& run : planned.plan.runs) {
    Json json = formats::RunJson(planned.plan, run);
    bytes += DumpLine(json).size();
    if (bytes > kRunsBytesMax && !runs.empty()) break;
    runs.push_back(std::move(json));
  }
  if (runs.size() < planned.plan.runs.size())
    (*facts)["runs_left_out"] = planned.plan.runs.size() - runs.size();
}

std::string Duration(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  if (whole < 120) return fmt::format("{} s", whole);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

// By the runs of this directory that ended well.
void AddEstimate(const PlannedSweep& planned, std::size_t to_run, double pause_s, Answer* answer) {
  const auto seconds = planned.state->MeanSeconds();
  const auto bytes = planned.state->MeanBytes(planned.plan);
  if (to_run == 0 || (!seconds && !bytes)) return;
  const auto count = static_cast<double>(to_run);
  Json& estimate = answer->facts["estimate"];
  if (seconds) estimate["seconds"] = (*seconds + pause_s) * count;
  if (bytes) estimate["bytes"] = *bytes * count;
  estimate["runs"] = to_run;
  answer->notes.push_back(
      fmt::format("going by the runs there are, {} more take about {}{}", to_run,
                  seconds ? Duration((*seconds + pause_s) * count) : "an unknown time",
                  bytes ? fmt::format(" and {:.1f} GB", *bytes * count / 1e9) : ""));
}

}  // namespace

Result<SweepRequest> ReadSweepRequest(const session::Workspace& workspace, const Json& arguments,
                                      const std::string& default_dir) {
  const io::FilePolicy& files = workspace.files();
  SweepRequest request;
  JV_ASSIGN(request.plan.vendor, launch::VendorOf(arguments.value("vendor", "amd")));
  for (const Json& axis : arguments.value("axes", Json::array())) {
    JV_ASSIGN(launch::AxisRequest one, ReadAxis(axis));
    request.plan.axes.push_back(std::move(one));
  }
  request.plan.command = arguments.value("command", std::vector<std::string>());
  request.plan.config = arguments.at("config").get<std::string>();
  const auto nproc = arguments.at("nproc").get<std::int64_t>();
  if (nproc < 1 || nproc > 65536) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("nproc: expected 1 to 65536 processes, received {}", nproc));
  }
  request.plan.nproc = static_cast<int>(nproc);
  JV_ASSIGN(request.plan.sweep_dir,
            files.ResolveOutput(TextArgument(arguments, "output_dir").value_or(default_dir)));
  if (arguments.contains("rocprof")) {
    JV_ASSIGN(request.plan.rocprof, ReadRocprof(files, arguments.at("rocprof")));
  }
  JV_ASSIGN(request.drive.workdir, WorkDirectory(files, arguments.value("workdir", "")));
  JV_ASSIGN(request.drive.skip, launch::SkipOf(arguments.at("skip").get<std::string>()));
  request.drive.aggregate = arguments.value("aggregate", true);
  JV_ASSIGN(const auto pause, NumberOf(arguments, "pause_s", 0, 86'400));
  request.drive.pause_s = pause.value_or(0);
  JV_ASSIGN(request.drive.timeout_s, NumberOf(arguments, "timeout_s", 0.1, 31'536'000));
  JV_ASSIGN(const auto failures, NumberOf(arguments, "max_failures", 1, 1e6));
  if (failures) request.drive.max_failures = static_cast<std::int64_t>(*failures);
  return request;
}

Result<PlannedSweep> PlanSweep(const session::Workspace& workspace, const SweepRequest& request,
                               Job& job) {
  PlannedSweep planned;
  JV_ASSIGN(planned.plan, launch::MakePlan(request.plan));
  if (const std::string& yaml = request.plan.rocprof.input; !yaml.empty()) {
    JV_ASSIGN(const std::string text, io::ReadTextFile(workspace.files(), yaml, kYamlBytesMax));
    for (std::string& doubt : launch::DoubtsAboutRocprofYaml(text))
      planned.plan.warnings.push_back(std::move(doubt));
  }
  struct stat status {};
  const bool there = ::stat(planned.plan.sweep_dir.c_str(), &status) == 0;
  if (there) {
    JV_ASSIGN(planned.folder, workspace.files().OpenOutputFolder(planned.plan.sweep_dir));
    if (const auto text = launch::ReadSmall(planned.folder.get(), formats::kSweepFile)) {
      auto file = formats::ReadSweepFile(*text);
      if (file) planned.file = std::move(*file);
      if (!file) planned.plan.warnings.push_back(file.error().message + ", so it is not believed");
    }
  }
  planned.state = std::make_unique<launch::SweepState>(planned.folder.get(), planned.file.records);
  for (const launch::PlannedRun& run : planned.plan.runs) {
    JV_TRY(job.Check());
    planned.runs.push_back(planned.state->Check(run, planned.plan.nproc));
  }
  return planned;
}

bool WouldRun(const launch::Completion& run, launch::Skip skip) {
  if (skip == launch::Skip::kExisting) return !run.exists;
  return skip == launch::Skip::kNone || !run.complete;
}

Answer PlanAnswer(const PlannedSweep& planned, const SweepRequest& request) {
  Answer answer;
  const launch::Skip skip = request.drive.skip;
  std::size_t to_run = 0;
  for (const launch::Axis& axis : planned.plan.axes)
    answer.columns.push_back(axis.name);
  answer.columns.insert(answer.columns.end(), {"directory", "what"});
  for (std::size_t i = 0; i < planned.runs.size(); ++i) {
    const launch::Completion& found = planned.runs[i];
    const launch::PlannedRun& run = planned.plan.runs[i];
    std::vector<Cell> row(run.values.begin(), run.values.end());
    row.emplace_back(run.directory);
    const bool runs = WouldRun(found, skip);
    to_run += runs ? 1 : 0;
    if (!runs) {
      row.emplace_back(found.complete ? "skip: complete" : "skip: directory exists");
    } else {
      row.emplace_back(!found.exists ? "run" : found.complete ? "again" : "again: " + found.why);
    }
    answer.rows.push_back(std::move(row));
  }
  answer.total = answer.rows.size();
  answer.facts = {{"sweep_dir", planned.plan.sweep_dir}, {"axes", formats::AxesJson(planned.plan)}};
  AddRuns(planned, &answer.facts);
  answer.notes = planned.plan.warnings;
  if (answer.facts.contains("runs_left_out")) {
    answer.notes.emplace_back(
        "runs lists the first ones in full, the others differ in their values alone; a script "
        "(format "
        "sh) has them all");
  }
  AddEstimate(planned, to_run, request.drive.pause_s, &answer);
  answer.summary = fmt::format("{} runs in {}: {} to run, {} to skip.", planned.runs.size(),
                               planned.plan.sweep_dir, to_run, planned.runs.size() - to_run);
  return answer;
}

}  // namespace jarvis::tools
