#include "sweep/scan/scan.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "io/input_folder.h"
#include "session/rank_digests.h"

namespace jarvis::sweep {
namespace {

constexpr int kDepthMax = 4;       // directories of a run below the sweep
constexpr int kTraceDepthMax = 4;  // directories of a trace below its run's profiler folder
constexpr std::size_t kEntriesMax = 100'000;  // of one directory
constexpr std::size_t kOtherMax = 100;
constexpr const char* kProfiler = "torch_profiler";

std::string Joined(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}

// Names of the entries, in natural order; links, hidden ones and those with control characters are
// passed over.
struct Entries {
  std::vector<std::string> folders;
  std::vector<std::string> files;
};
Result<Entries> EntriesOf(const io::FilePolicy& files, const std::string& folder) {
  Entries entries;
  JV_ASSIGN(const std::vector<io::FolderEntry> found,
            io::EntriesOfFolder(files, folder, kEntriesMax));
  for (const io::FolderEntry& entry : found) {
    const std::string& name = entry.name;
    // Names of directories become names of files that we write, a line each in their list.
    const bool odd = std::any_of(name.begin(), name.end(),
                                 [](char c) { return static_cast<unsigned char>(c) < 0x20; });
    if (name.starts_with('.') || odd) continue;
    if (entry.kind == io::FolderEntry::Kind::kFolder)
      entries.folders.push_back(name);
    else if (entry.kind == io::FolderEntry::Kind::kFile)
      entries.files.push_back(name);
  }
  std::sort(entries.folders.begin(), entries.folders.end(), NaturallyBefore);
  std::sort(entries.files.begin(), entries.files.end(), NaturallyBefore);
  return entries;
}

bool Has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The digits between the two, if the name is made so.
std::optional<std::string> Between(std::string_view name, std::string_view before,
                                   std::string_view after) {
  if (name.size() <= before.size() + after.size() || !name.starts_with(before) ||
      !name.ends_with(after)) {
    return std::nullopt;
  }
  name = name.substr(before.size(), name.size() - before.size() - after.size());
  if (name.find_first_not_of("0123456789") != std::string_view::npos || !ParseInt(name))
    return std::nullopt;
  return std::string(name);
}

AxisValue ValueOf(std::string text) {
  AxisValue value{std::move(text), std::nullopt};
  value.number = ParseInt(value.text);
  return value;
}

// "algo=ring", "algo_ring", "28channels", "nccl_28channels": the axis and its value. Any other name
// is a value of an axis without a name.
std::pair<std::string, std::string> AxisOf(const std::string& part, std::size_t level) {
  if (const auto threads = Between(part, "", "thread")) return {"threads", *threads};
  if (const auto channels = Between(part, "nccl_", "channels")) return {"channels", *channels};
  const std::size_t equals = part.find('=');
  if (equals != std::string::npos && equals > 0 && equals + 1 < part.size())
    return {part.substr(0, equals), part.substr(equals + 1)};
  const std::size_t digit = part.find_first_of("0123456789");
  if (digit != std::string::npos) {
    const std::size_t end = std::min(part.find_first_not_of("0123456789", digit), part.size());
    std::string name = part.substr(end);
    if (name.empty()) name = part.substr(0, digit);
    while (!name.empty() && (name.back() == '_' || name.back() == '-'))
      name.pop_back();
    if (!name.empty()) return {name, part.substr(digit, end - digit)};
  }
  const std::size_t line = part.find('_');
  if (line != std::string::npos && line > 0 && line + 1 < part.size())
    return {part.substr(0, line), part.substr(line + 1)};
  return {fmt::format("level{}", level + 1), part};
}

bool IsRankFolder(const std::string& name) {
  const std::string lower = LowerAscii(name);
  return lower.starts_with("rank") && session::RankInPath(name).has_value();
}

bool LooksLikeRun(const Entries& entries) {
  return Has(entries.folders, kProfiler) ||
         std::any_of(entries.folders.begin(), entries.folders.end(), IsRankFolder);
}

// The best of several files of one rank: the workload's own trace, then whatever is called trace.
int Preference(const std::string& path) {
  const std::string name = LowerAscii(path.substr(path.rfind('/') + 1));
  if (name.starts_with("customer_trace")) return 0;
  if (ContainsNoCase(name, "trace")) return 1;
  return 2;
}

class Scanner {
 public:
  Scanner(const io::FilePolicy& files, Sweep* sweep) : files_(files), sweep_(*sweep) {}

  // Fills in what a run's directory holds.
  Status ReadRun(Config* config) {
    const std::string folder = sweep_.path + (config->folder.empty() ? "" : "/") + config->folder;
    JV_ASSIGN(const Entries entries, EntriesOf(files_, folder));
    config->rocprof = Has(entries.folders, "rocprof_traces");
    if (Has(entries.files, "run_output.log"))
      config->log = Joined(config->folder, "run_output.log");
    const bool profiler = Has(entries.folders, kProfiler);
    const bool ranks = std::any_of(entries.folders.begin(), entries.folders.end(), IsRankFolder);
    if (profiler)
      JV_TRY(ReadTraces(folder + "/" + kProfiler, config));
    else if (ranks)
      JV_TRY(ReadTraces(folder, config));
    if (config->traces.empty()) {
      sweep_.warnings.push_back(
          {config->label, std::nullopt, config->log.value_or(""), "RANK_MISSING",
           fmt::format("no trace of any rank in {}{}", config->folder,
                       config->log ? "; its run_output.log may say why" : "")});
    }
    return {};
  }

 private:
  Status ReadTraces(const std::string& folder, Config* config) {
    JV_ASSIGN(const std::vector<std::string> paths,
              files_.ListFolder(folder, {".json", ".json.gz"}, kTraceDepthMax, kEntriesMax));
    std::map<std::int64_t, std::vector<TraceFile>> ranked;
    std::vector<TraceFile> unranked;
    std::vector<std::string> below;
    for (const std::string& path : paths)
      below.push_back(path.substr(folder.size() + 1));
    const auto ranks_of = session::RanksInPaths(below);
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const std::string& path = paths[i];
      TraceFile file;
      file.path = path;
      file.name = path.substr(sweep_.path.size() + 1);
      const auto opened = files_.OpenInput(path);
      if (opened) file.bytes = opened->size;
      file.path_rank = ranks_of[i];
      (file.path_rank ? ranked[*file.path_rank] : unranked).push_back(std::move(file));
    }
    for (auto& [rank, some] : ranked) {
      const auto best = std::min_element(
          some.begin(), some.end(),
          [](const auto& a, const auto& b) { return Preference(a.path) < Preference(b.path); });
      if (some.size() > 1) {
        sweep_.warnings.push_back(
            {config->label, rank, best->name, "MULTIPLE_TRACES",
             fmt::format("{} traces of rank {}; {} is read", some.size(), rank, best->name)});
      }
      config->traces.push_back(std::move(*best));
    }
    std::move(unranked.begin(), unranked.end(), std::back_inserter(config->traces));
    JV_ASSIGN(const Entries entries, EntriesOf(files_, folder));
    for (const std::string& name : entries.folders) {
      const auto rank = IsRankFolder(name) ? session::RankInPath(name) : std::nullopt;
      if (rank && !ranked.contains(*rank)) {
        sweep_.warnings.push_back({config->label, rank, Joined(config->folder, name),
                                   "RANK_MISSING",
                                   fmt::format("the directory of rank {} has no trace", *rank)});
      }
    }
    return {};
  }

  const io::FilePolicy& files_;
  Sweep& sweep_;
};

void AddOther(const std::string& name, Sweep* sweep) {
  if (sweep->other.size() < kOtherMax) sweep->other.push_back(name);
}

// <n>thread/nccl_<n>channels.
Status FindThreadsByChannels(const io::FilePolicy& files, const Entries& top, Sweep* sweep) {
  for (const std::string& threads : top.folders) {
    const auto value = Between(threads, "", "thread");
    if (!value) {
      if (threads != "tracelens_analysis") AddOther(threads, sweep);
      continue;
    }
    JV_ASSIGN(const Entries inner, EntriesOf(files, sweep->path + "/" + threads));
    for (const std::string& channels : inner.folders) {
      const auto count = Between(channels, "nccl_", "channels");
      if (!count) {
        AddOther(threads + "/" + channels, sweep);
        continue;
      }
      Config config;
      config.values = {ValueOf(*value), ValueOf(*count)};
      config.label = fmt::format("{}thread_{}ch", *value, *count);
      config.folder = threads + "/" + channels;
      sweep->configs.push_back(std::move(config));
    }
  }
  if (!sweep->configs.empty()) {
    sweep->axes = {"threads", "channels"};
    sweep->threads_by_channels = true;
  }
  return {};
}

// Every directory that looks like a run, whatever it is called.
Status FindRuns(const io::FilePolicy& files, const std::string& folder, int depth,
                std::vector<std::string>* runs, Sweep* sweep) {
  JV_ASSIGN(const Entries entries,
            EntriesOf(files, folder.empty() ? sweep->path : sweep->path + "/" + folder));
  if (!folder.empty() && LooksLikeRun(entries)) {
    runs->push_back(folder);
    return {};
  }
  if (depth == kDepthMax) return {};
  for (const std::string& name : entries.folders) {
    if (name == "tracelens_analysis") continue;
    JV_TRY(FindRuns(files, Joined(folder, name), depth + 1, runs, sweep));
  }
  return {};
}

Status FindOtherLayout(const io::FilePolicy& files, Sweep* sweep) {
  std::vector<std::string> runs;
  JV_TRY(FindRuns(files, "", 0, &runs, sweep));
  std::vector<std::map<std::string, std::string>> found;
  for (const std::string& run : runs) {
    std::map<std::string, std::string> values;
    std::size_t level = 0;
    for (std::size_t at = 0; at <= run.size(); ++level) {
      const std::size_t slash = std::min(run.find('/', at), run.size());
      auto [axis, value] = AxisOf(run.substr(at, slash - at), level);
      if (!Has(sweep->axes, axis)) sweep->axes.push_back(axis);
      values[std::move(axis)] = std::move(value);
      at = slash + 1;
    }
    found.push_back(std::move(values));
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Config config;
    for (const std::string& axis : sweep->axes) {
      const auto value = found[i].find(axis);
      config.values.push_back(value == found[i].end() ? AxisValue() : ValueOf(value->second));
    }
    config.folder = runs[i];
    config.label = runs[i];
    std::replace(config.label.begin(), config.label.end(), '/', '_');
    sweep->configs.push_back(std::move(config));
  }
  return {};
}

bool Before(const Config& a, const Config& b) {
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    if (a.values[i].text != b.values[i].text)
      return NaturallyBefore(a.values[i].text, b.values[i].text);
  }
  return a.folder < b.folder;
}

Result<Sweep> OpenFolder(const io::FilePolicy& files, const std::string& given) {
  Sweep sweep;
  JV_ASSIGN(sweep.path, files.ResolveInput(given));
  if (!io::IsInputFolder(files, sweep.path)) {
    return Fail(ErrorCode::kTraceNotFound, fmt::format("no directory \"{}\"", given),
                "give the directory of the sweep");
  }
  while (sweep.path.size() > 1 && sweep.path.ends_with('/'))
    sweep.path.pop_back();
  sweep.name = sweep.path.substr(sweep.path.rfind('/') + 1);
  return sweep;
}

}  // namespace

Result<Sweep> ScanSweep(const io::FilePolicy& files, const std::string& given) {
  JV_ASSIGN(Sweep sweep, OpenFolder(files, given));
  JV_ASSIGN(const Entries top, EntriesOf(files, sweep.path));
  JV_TRY(FindThreadsByChannels(files, top, &sweep));
  if (sweep.configs.empty()) {
    sweep.other.clear();
    JV_TRY(FindOtherLayout(files, &sweep));
  }
  if (sweep.configs.empty()) {
    return Fail(ErrorCode::kTraceNotFound,
                fmt::format("no run in \"{}\": no <n>thread/nccl_<n>channels and no directory with "
                            "torch_profiler or rank folders",
                            given),
                "give the directory that holds the runs of the sweep");
  }
  if (sweep.configs.size() > kConfigsMax) {
    return Fail(ErrorCode::kTooLarge,
                fmt::format("\"{}\" has more than {} configurations", given, kConfigsMax));
  }
  std::sort(sweep.configs.begin(), sweep.configs.end(), Before);
  Scanner scanner(files, &sweep);
  for (Config& config : sweep.configs)
    JV_TRY(scanner.ReadRun(&config));
  return sweep;
}

Result<Sweep> ScanRun(const io::FilePolicy& files, const std::string& given) {
  JV_ASSIGN(Sweep sweep, OpenFolder(files, given));
  if (sweep.name == kProfiler && sweep.path.rfind('/') > 0) {
    sweep.path = sweep.path.substr(0, sweep.path.rfind('/'));
    JV_ASSIGN(sweep.path, files.ResolveInput(sweep.path));
    sweep.name = sweep.path.substr(sweep.path.rfind('/') + 1);
  }
  Config config;
  config.label = sweep.name;
  Scanner scanner(files, &sweep);
  JV_TRY(scanner.ReadRun(&config));
  if (config.traces.empty()) {
    return Fail(ErrorCode::kTraceNotFound, fmt::format("no trace in \"{}\"", given),
                "give a directory with torch_profiler/rank<R>/<trace>.json in it");
  }
  sweep.configs.push_back(std::move(config));
  return sweep;
}

std::optional<std::int64_t> NumberOn(const Sweep& sweep, const Config& config,
                                     std::string_view axis) {
  for (std::size_t i = 0; i < sweep.axes.size(); ++i) {
    if (sweep.axes[i] == axis && i < config.values.size()) return config.values[i].number;
  }
  return std::nullopt;
}

}  // namespace jarvis::sweep
