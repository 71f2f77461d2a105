#include "rocprof/read/find_files.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "io/below.h"
#include "io/input_folder.h"
#include "io/text_file.h"

namespace jarvis::rocprof {
namespace {

constexpr int kDepthMax = 8;
constexpr std::size_t kFilesMax = 20'000;

struct Name {
  std::string folder;
  std::string prefix;
};

// "/a/b/41284_agent_info.csv": folder "/a/b", prefix "41284".
Name NameOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  Name name{path.substr(0, slash), path.substr(slash + 1)};
  for (const std::string_view ending :
       {"agent_info.csv", "counter_collection.csv", "kernel_trace.csv", "kernel_stats.csv",
        "domain_stats.csv", "results.csv", "results.json", "results.db"}) {
    const std::size_t at = name.prefix.rfind(ending);
    if (at == std::string::npos) continue;
    name.prefix.resize(at);
    if (name.prefix.ends_with('_')) name.prefix.pop_back();
    break;
  }
  return name;
}

// The number in "pass_3", "256thread", "nccl_28channels".
std::optional<std::int64_t> NumberIn(std::string_view part, std::string_view before,
                                     std::string_view after) {
  if (!part.starts_with(before) || !part.ends_with(after) ||
      part.size() <= before.size() + after.size() || part.size() > 30) {
    return std::nullopt;
  }
  part.remove_prefix(before.size());
  part.remove_suffix(after.size());
  if (part.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  return ParseInt(part);
}

Process Described(const Name& name) {
  Process process;
  process.folder = name.folder;
  process.prefix = name.prefix;
  process.pid = NumberIn(name.prefix, "", "");
  process.config.run = name.folder;
  std::string above;
  bool found = false;
  for (const std::string& part : io::PathParts(name.folder)) {
    if (const auto threads = NumberIn(part, "", "thread")) process.config.threads = threads;
    if (const auto channels = NumberIn(part, "nccl_", "channels"))
      process.config.channels = channels;
    const auto pass = NumberIn(part, "pass_", "");
    if (pass && *pass < 100'000) process.pass = static_cast<std::int32_t>(*pass);
    const bool mark = pass || part == "rocprof_traces";
    if (mark && !found) process.config.run = above;
    found = found || mark;
    process.host = mark ? "" : part;
    above += "/" + part;
  }
  return process;
}

}  // namespace

std::string Config::name() const {
  std::string text;
  if (threads) text += fmt::format("{}thread", *threads);
  if (channels) text += fmt::format("{}{}ch", text.empty() ? "" : "_", *channels);
  return text.empty() ? run.substr(run.rfind('/') + 1) : text;
}

Result<FoundFiles> FindFiles(const io::FilePolicy& policy, const std::string& given) {
  FoundFiles found;
  JV_ASSIGN(const std::string path, policy.ResolveInput(given));
  std::vector<std::string> paths;
  if (io::IsInputFolder(policy, given)) {
    std::vector<std::string> endings = {
        "agent_info.csv",   "counter_collection.csv", "kernel_trace.csv", "kernel_stats.csv",
        "domain_stats.csv", "_results.csv",           "_results.json"};
    for (std::size_t i = endings.size(); i-- > 0;)
      endings.push_back(endings[i] + ".gz");
    endings.emplace_back(".db");
    JV_ASSIGN(paths, policy.ListFolder(given, endings, kDepthMax, kFilesMax));
    JV_ASSIGN(found.unreadable,
              policy.ListFolder(given, {"_results.pftrace"}, kDepthMax, kFilesMax));
  } else {
    JV_ASSIGN(const io::InputFile file, policy.OpenInput(given));  // for its error
    paths.push_back(file.path);
    const Name name = NameOf(path);
    const auto beside = io::FilesInFolder(policy, name.folder, "agent_info.csv", kFilesMax);
    for (const std::string& agents : beside ? *beside : std::vector<std::string>()) {
      if (agents != path && NameOf(agents).prefix == name.prefix) paths.push_back(agents);
    }
  }
  std::map<std::pair<std::string, std::string>, std::size_t> places;
  for (const std::string& one : paths) {
    const Name name = NameOf(one);
    const auto [at, fresh] = places.try_emplace({name.folder, name.prefix}, found.processes.size());
    if (fresh) found.processes.push_back({Described(name), {}});
    found.processes[at->second].files.emplace_back(KindOfName(one), one);
  }
  if (found.processes.empty() && found.unreadable.empty()) {
    return Fail(
        ErrorCode::kTraceNotFound,
        fmt::format("no file of rocprofv3 below \"{}\" (*_counter_collection.csv, "
                    "*_kernel_trace.csv, *_results.json, *_results.db)",
                    given),
        "run rocprofv3 with --output-format csv json rocpd, or name the directory of a run");
  }
  return found;
}

}  // namespace jarvis::rocprof
