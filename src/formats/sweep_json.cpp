#include "formats/sweep_json.h"

#include <algorithm>

#include <fmt/format.h>

namespace jarvis::formats {
namespace {

constexpr const char* kFormat = "jarvis-sweep-1";

Json RecordJson(const launch::RunRecord& record) {
  const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
  Json json = {{"status", launch::StateName(record.state)},
               {"exit_code", record.exit_code ? Json(*record.exit_code) : Json()},
               {"timed_out", record.timed_out},
               {"started", text(record.started)},
               {"ended", text(record.ended)},
               {"duration_s", record.duration_s ? Json(*record.duration_s) : Json()},
               {"host", text(record.host)},
               {"versions", Json::object()},
               {"note", text(record.note)},
               {"traces", Json::array()},
               {"missing_ranks", record.missing_ranks}};
  for (const auto& [name, version] : record.versions)
    json["versions"][name] = version;
  for (const launch::RankTrace& trace : record.traces) {
    json["traces"].push_back({{"rank", trace.rank}, {"file", trace.file}, {"bytes", trace.bytes}});
  }
  return json;
}

std::string TextOf(const Json& json, const char* name) {
  const Json* found = FindMember(json, name);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<std::int64_t> IntegerOf(const Json& json, const char* name) {
  const Json* found = FindMember(json, name);
  if (found == nullptr || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

// What does not fit is left out: then the run counts as less done than it is, never as more.
launch::RunRecord ReadRecord(const Json& json) {
  launch::RunRecord record;
  record.state = launch::FindState(TextOf(json, "status")).value_or(launch::RunState::kPlanned);
  record.exit_code = IntegerOf(json, "exit_code");
  if (record.state == launch::RunState::kSuccess && record.exit_code != 0)
    record.state = launch::RunState::kFailed;
  const Json* late = FindMember(json, "timed_out");
  record.timed_out = late != nullptr && *late == Json(true);
  record.started = TextOf(json, "started");
  record.ended = TextOf(json, "ended");
  record.host = TextOf(json, "host");
  if (const Json* versions = FindMember(json, "versions"); versions != nullptr) {
    for (const auto& [name, version] : versions->items()) {
      if (version.is_string()) record.versions.emplace_back(name, version.get<std::string>());
    }
  }
  record.note = TextOf(json, "note");
  const Json* duration = FindMember(json, "duration_s");
  if (duration != nullptr && duration->is_number()) record.duration_s = duration->get<double>();
  const Json* traces = FindMember(json, "traces");
  for (const Json& trace : traces != nullptr && traces->is_array() ? *traces : Json::array()) {
    const auto rank = IntegerOf(trace, "rank");
    const auto bytes = IntegerOf(trace, "bytes");
    if (rank && bytes && *bytes >= 0) {
      record.traces.push_back({*rank, TextOf(trace, "file"), static_cast<std::uint64_t>(*bytes)});
    }
  }
  return record;
}

}  // namespace

Result<SweepFile> ReadSweepFile(std::string_view text) {
  SweepFile file;
  const auto json = ParseJson(text);
  const Json* runs = json ? FindMember(*json, "runs") : nullptr;
  if (!json || TextOf(*json, "format") != kFormat || runs == nullptr || !runs->is_array()) {
    return Fail(ErrorCode::kBadValue, fmt::format("{} is not a record of jarvis", kSweepFile));
  }
  for (const Json& run : *runs) {
    const std::string directory = TextOf(run, "directory");
    if (directory.empty()) continue;
    file.records[directory] = ReadRecord(run);
    file.runs.push_back(run);
  }
  return file;
}

std::string SweepFileText(const launch::Plan& plan, const std::vector<launch::RunRecord>& records,
                          const Json& arguments, const SweepFile& earlier) {
  Json json = {{"format", kFormat},           {"jarvis", JARVIS_VERSION}, {"arguments", arguments},
               {"sweep_dir", plan.sweep_dir}, {"nproc", plan.nproc},      {"axes", AxesJson(plan)},
               {"runs", Json::array()}};
  std::vector<std::string> ours;
  bool complete = true;
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    Json run = RunJson(plan, plan.runs[i]);
    run.update(RecordJson(records[i]));
    json["runs"].push_back(std::move(run));
    ours.push_back(plan.runs[i].directory);
    complete = complete && records[i].state == launch::RunState::kSuccess &&
               records[i].missing_ranks.empty();
  }
  for (const Json& run : earlier.runs) {
    if (std::find(ours.begin(), ours.end(), TextOf(run, "directory")) == ours.end())
      json["runs"].push_back(run);
  }
  json["complete"] = complete;
  return json.dump(1, ' ', Json::BadUtf8::kReplace) + "\n";
}

Json AxesJson(const launch::Plan& plan) {
  Json axes = Json::array();
  for (const launch::Axis& axis : plan.axes) {
    axes.push_back({{"name", axis.name},
                    {"env", axis.env},
                    {"values", axis.values},
                    {"directory", axis.directory}});
  }
  return axes;
}

Json RunJson(const launch::Plan& plan, const launch::PlannedRun& run) {
  Json values = Json::object();
  for (std::size_t i = 0; i < plan.axes.size(); ++i)
    values[plan.axes[i].name] = run.values[i];
  Json env = Json::object();
  for (const auto& [name, value] : run.env)
    env[name] = value;
  return {{"directory", run.directory},
          {"values", std::move(values)},
          {"env", std::move(env)},
          {"command", run.command}};
}

}  // namespace jarvis::formats
