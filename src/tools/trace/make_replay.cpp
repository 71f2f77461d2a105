#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "io/output_folder.h"
#include "io/text_file.h"
#include "output/number_format.h"
#include "replay/entry.h"
#include "replay/package.h"
#include "replay/schema_table.h"
#include "session/trace_work.h"
#include "tools/shared/arguments.h"
#include "tools/shared/platform_choice.h"
#include "tools/trace/trace_tools.h"

namespace jarvis::tools {
namespace {

using replay::Entry;
using replay::Signature;

constexpr std::size_t kIndexBytesMax = std::size_t{16} << 20;
constexpr const char* kIndexName = "replay_packages/replay_index.json";

// What one call makes.
struct Made {
  Json ir = Json::array();
  Json included = Json::array();  // of the manifest
  Json skipped = Json::array();
  std::vector<std::vector<Cell>> included_rows;
  std::vector<std::vector<Cell>> skipped_rows;
  std::size_t unmatched = 0;
  std::vector<std::string> ops;  // distinct, the longest first
};

// Without rows and names: everything.
replay::Wanted WantedOf(const Json& arguments, const session::LoadedTrace& trace) {
  replay::Wanted wanted;
  if (arguments.contains("rows"))
    wanted.rows = arguments.at("rows").get<std::vector<std::string>>();
  if (arguments.contains("op_names"))
    wanted.op_names = arguments.at("op_names").get<std::vector<std::string>>();
  if (!wanted.rows.empty() || !wanted.op_names.empty()) return wanted;
  for (const analysis::SummaryRow& row : trace.SummaryBy(analysis::GroupBy::kOp).rows)
    wanted.rows.push_back(row.id);
  return wanted;
}

void AddSkipped(const Signature& signature, const std::string& reason, const std::string& fix,
                Made* made) {
  const auto calls = static_cast<std::int64_t>(signature.call_us.size());
  made->skipped.push_back({{"row", signature.row},
                           {"op_name", Utf8Prefix(signature.op, 200)},
                           {"count", calls},
                           {"total_us", output::Rounded(signature.total_us)},
                           {"reason", reason},
                           {"fix", fix}});
  made->skipped_rows.push_back({signature.row, std::string(Utf8Prefix(signature.op, 60)),
                                std::string("skipped"), Cell(), calls, signature.total_us / 1000,
                                reason + "; " + fix});
}

void AddIncluded(const Signature& signature, Entry entry, Made* made) {
  const auto calls = static_cast<std::int64_t>(signature.call_us.size());
  const std::string shapes = replay::ShapesText(entry.ir);
  const Json& warnings = entry.ir.at("warnings");
  made->included.push_back({{"index", made->ir.size()},
                            {"row", signature.row},
                            {"op_name", signature.op},
                            {"shapes", shapes},
                            {"count", calls},
                            {"mean_us", entry.ir.at("reference").at("mean_us")},
                            {"matched", entry.matched}});
  made->included_rows.push_back({signature.row, signature.op,
                                 std::string(entry.matched ? "included" : "matched on replay"),
                                 shapes, calls, signature.total_us / 1000,
                                 warnings.empty() ? Cell() : Cell(warnings[0].get<std::string>())});
  if (!entry.matched) ++made->unmatched;
  if (std::find(made->ops.begin(), made->ops.end(), signature.op) == made->ops.end())
    made->ops.push_back(signature.op);
  made->ir.push_back(std::move(entry.ir));
}

Result<Made> MakeEntries(const io::FilePolicy& files, const session::LoadedTrace& trace,
                         const std::vector<Signature>& calls, std::size_t limit, Job& job) {
  std::optional<perf::Platform> platform;
  if (auto choice = ChoosePlatform(files, "", &trace)) platform = std::move(choice->platform);
  if (platform) JV_TRY(session::WorkOf(trace, nullptr, job));  // here it can be stopped
  Made made;
  for (const Signature& signature : calls) {
    JV_TRY(job.Check());
    if (made.ir.size() >= limit) {
      AddSkipped(signature, fmt::format("beyond the limit of {} entries", limit),
                 "raise limit, or choose fewer rows", &made);
      continue;
    }
    Entry entry = replay::MakeEntry({trace, platform}, signature);
    if (entry.ir.is_null()) {
      AddSkipped(signature, entry.reason, entry.fix, &made);
    } else {
      AddIncluded(signature, std::move(entry), &made);
    }
  }
  return made;
}

std::string PackageName(const Made& made) {
  std::string name = replay::SafeName(made.ops.front());
  if (made.ops.size() > 1) name += fmt::format("_and_{}_more", made.ops.size() - 1);
  return name + "_replay_package.zip";
}

Json ManifestOf(const session::LoadedTrace& trace, const Made& made) {
  const auto& devices = trace.trace().metadata.devices;
  Json manifest = Json::object();
  manifest["schema_version"] = 1;
  manifest["tool_version"] = JARVIS_VERSION;
  manifest["schema_table"] = "torch " + std::string(replay::SchemaTableVersion());
  manifest["trace_id"] = trace.id();
  manifest["arch"] =
      devices.empty() || devices[0].name.empty() ? Json(nullptr) : Json(devices[0].name);
  manifest["entries"] = made.included;
  manifest["skipped"] = made.skipped;
  return manifest;
}

std::string Pretty(const Json& value) {
  return value.dump(2, ' ', Json::BadUtf8::kReplace) + "\n";
}

// The packages that are in a directory already; anything else in the list's place is replaced, as
// the directory allowed it.
Json KnownPackages(const std::string& directory) {
  const Json none = Json::array();
  io::FileRules rules;
  rules.allow_roots = {directory};
  const auto there = io::FilePolicy::Limit(rules);
  if (!there) return none;
  const auto text = io::ReadTextFile(*there, directory + "/" + kIndexName, kIndexBytesMax);
  const auto index = text ? ParseJson(*text) : Result<Json>(Json());
  if (!index || !index->is_object()) return none;
  const Json packages = index->value("packages", none);
  return packages.is_array() ? packages : none;
}

std::string IndexWith(const Json& known, const Json& package) {
  Json packages = Json::array({package});
  for (const Json& other : known) {
    if (other.is_object() && other.value("package", "") != package.at("package"))
      packages.push_back(other);
  }
  std::sort(packages.begin(), packages.end(), [](const Json& a, const Json& b) {
    return a.value("package", "") < b.value("package", "");
  });
  return Pretty({{"schema_version", 1}, {"packages", std::move(packages)}});
}

Status WriteAll(const session::LoadedTrace& trace, const Made& made, const Json& arguments,
                io::OutputFolder& folder, Answer* answer) {
  const std::string format = arguments.at("format").get<std::string>();
  const std::string ir = Pretty(made.ir);
  const std::string name = "replay_packages/" + PackageName(made);
  std::vector<std::pair<std::string, std::string>> files;
  if (format != "zip") files.emplace_back("replay_ir.json", ir);
  if (format != "ir") {
    std::string zip = replay::MakePackage(ir, Pretty(ManifestOf(trace, made)));
    files.emplace_back("replay_package.zip", zip);
    files.emplace_back(name, std::move(zip));
  }
  const Json package = {{"package", format == "ir" ? "replay_ir.json" : name},
                        {"trace_id", trace.id()},
                        {"entries", made.ir.size()},
                        {"skipped", made.skipped.size()},
                        {"ops", made.ops}};
  std::vector<std::string> names = {kIndexName};
  for (const auto& [file, content] : files)
    names.push_back(file);
  JV_TRY(folder.Claim(names, MayOverwrite(arguments)));
  for (const auto& [file, content] : files) {
    JV_ASSIGN(std::string path, folder.Write(file, content));
    if (file != name) answer->files.push_back({std::move(path), file, made.ir.size()});
  }
  JV_ASSIGN(std::string index,
            folder.Write(kIndexName, IndexWith(KnownPackages(folder.path()), package)));
  answer->files.push_back({std::move(index), "index of packages", 1});
  return folder.Commit();
}

// Nothing can be replayed: every reason once.
Error NothingToReplay(const Made& made) {
  std::vector<std::string> reasons;
  for (const Json& skipped : made.skipped) {
    std::string reason =
        fmt::format("{}: {}; {}", skipped.at("op_name").get<std::string>().substr(0, 60),
                    skipped.at("reason").get<std::string>(), skipped.at("fix").get<std::string>());
    if (reasons.size() < 5 && std::find(reasons.begin(), reasons.end(), reason) == reasons.end())
      reasons.push_back(std::move(reason));
  }
  std::string text = "nothing of this can be replayed";
  for (const std::string& reason : reasons)
    text += "\n- " + reason;
  return {ErrorCode::kBadValue, text, "ops_summary lists other rows"};
}

}  // namespace

Result<Answer> MakeReplay(session::Workspace& workspace, const Json& arguments, Job& job) {
  JV_ASSIGN(const TracePtr trace, OpenTrace(workspace, arguments, job));
  const replay::Wanted wanted = WantedOf(arguments, *trace);
  if (wanted.rows.empty() && wanted.op_names.empty()) {
    return Fail(ErrorCode::kNoGpuEvents, "the trace has no GPU work whose ops could be replayed",
                R"(name host ops: {"op_names":["aten::mm"]})");
  }
  JV_ASSIGN(const std::vector<Signature> calls, replay::SelectCalls(*trace, wanted));
  JV_ASSIGN(Made made, MakeEntries(workspace.files(), *trace, calls,
                                   arguments.at("limit").get<std::size_t>(), job));
  if (made.ir.empty()) return tl::make_unexpected(NothingToReplay(made));
  JV_ASSIGN(const std::string directory, OutputDirectory(workspace, arguments, *trace));
  JV_ASSIGN(const auto folder, io::OutputFolder::Open(workspace.files(), directory, job));
  Answer answer;
  answer.trace = trace->id();
  JV_TRY(WriteAll(*trace, made, arguments, *folder, &answer));
  answer.columns = {"row", "op", "state", "shapes", "calls", "ms", "note"};
  answer.summary = fmt::format(
      "Wrote {} entries to {}; {} calls skipped. Nothing was run. On the machine of the "
      "GPU: unzip replay_package.zip, then python3 batched_replay.py replay_ir.json "
      "--compare",
      made.ir.size(), directory, made.skipped.size());
  // What was left out is what a reader acts on; where both do not fit, the included are cut.
  constexpr std::size_t kSkippedFirst = 5;
  const std::size_t first = std::min(kSkippedFirst, made.skipped_rows.size());
  answer.rows.assign(made.skipped_rows.begin(),
                     made.skipped_rows.begin() + static_cast<std::ptrdiff_t>(first));
  answer.rows.insert(answer.rows.end(), made.included_rows.begin(), made.included_rows.end());
  answer.rows.insert(answer.rows.end(),
                     made.skipped_rows.begin() + static_cast<std::ptrdiff_t>(first),
                     made.skipped_rows.end());
  answer.total = answer.rows.size();
  answer.notes = {
      "not reproduced: data values, memory layout beyond strides, clocks, neighbours on "
      "the GPU; index tensors are random within range"};
  if (made.unmatched > 0) {
    answer.notes.push_back(fmt::format(
        "{} entries have no known schema: the replayer finds it where their package is installed",
        made.unmatched));
  }
  return answer;
}

}  // namespace jarvis::tools
