#include "launch/state.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <set>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_descriptor.h"
#include "base/text.h"
#include "io/below.h"
#include "io/byte_source.h"

namespace jarvis::launch {
namespace {

constexpr std::array<std::string_view, 5> kStates = {"planned", "running", "success", "failed",
                                                     "interrupted"};
constexpr std::size_t kEntriesMax = 100'000;
constexpr std::size_t kSmallBytesMax = std::size_t{16} << 20;
constexpr std::string_view kSummaryStart = "nccl_thread_sweep_summary_";

struct Entry {
  std::string name;
  bool folder = false;
  std::uint64_t bytes = 0;
};

// Sorted; neither hidden ones nor links.
std::vector<Entry> Entries(int parent, const std::string& name) {
  std::vector<Entry> entries;
  const FileDescriptor path = io::OpenFolderBelow(parent, name, io::Missing::kFail);
  if (!path.valid()) return entries;
  FileDescriptor folder(::openat(path.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder.valid()) return entries;
  DIR* stream = ::fdopendir(folder.get());
  if (stream == nullptr) return entries;
  static_cast<void>(folder.release());
  while (const dirent* found = ::readdir(stream)) {
    const std::string entry = static_cast<const char*>(found->d_name);
    struct stat status {};
    if (entry.starts_with('.') || entries.size() >= kEntriesMax ||
        ::fstatat(path.get(), entry.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !(S_ISDIR(status.st_mode) || S_ISREG(status.st_mode))) {
      continue;
    }
    entries.push_back({entry, S_ISDIR(status.st_mode), static_cast<std::uint64_t>(status.st_size)});
  }
  ::closedir(stream);
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return NaturallyBefore(a.name, b.name); });
  return entries;
}

// "rank3", "rank_03", "x_rank[3].json": the whole number after the word.
std::optional<std::int64_t> RankIn(std::string_view name) {
  const std::size_t at = name.find("rank");
  if (at == std::string_view::npos) return std::nullopt;
  name.remove_prefix(at + 4);
  if (!name.empty() && std::string_view("_-[").find(name.front()) != std::string_view::npos)
    name.remove_prefix(1);
  const std::size_t digits = std::min(name.size(), name.find_first_not_of("0123456789"));
  return ParseInt(name.substr(0, digits));
}

// JSON to its last bracket, and to the end of its compression.
bool IsWhole(int folder, const std::string& name, std::uint64_t bytes) {
  io::InputFile file;
  file.fd = io::OpenFileBelow(folder, name, O_RDONLY);
  if (!file.fd.valid()) return false;
  file.given = file.path = name;
  file.size = bytes;
  auto source = io::OpenBytes(std::move(file));
  if (!source) return false;
  std::array<char, 65536> buffer{};
  char last = 0;
  for (;;) {
    const auto got = (*source)->Read(buffer);
    if (!got) return false;
    if (*got == 0) break;
    const std::string_view text = Trim(std::string_view(buffer.data(), *got));
    if (!text.empty()) last = text.back();
  }
  return (*source)->damage().empty() && (last == '}' || last == ']');
}

std::uint64_t BytesBelow(int parent, const std::string& name, int depth) {
  std::uint64_t bytes = 0;
  for (const Entry& entry : Entries(parent, name)) {
    bytes += entry.folder && depth > 0 ? BytesBelow(parent, name + "/" + entry.name, depth - 1)
                                       : entry.bytes;
  }
  return bytes;
}

class TraceFinder {
 public:
  TraceFinder(int folder, const std::vector<RankTrace>& known) : folder_(folder), known_(known) {}

  RunTraces Find(int nproc) {
    const std::string top = "torch_profiler";
    for (const Entry& entry : Entries(folder_, top)) {
      const std::string path = top + "/" + entry.name;
      const auto rank = RankIn(entry.name);
      if (!entry.folder) {
        Look(path, entry, rank);
        continue;
      }
      for (const Entry& file : Entries(folder_, path)) {
        if (!file.folder) Look(path + "/" + file.name, file, rank ? rank : RankIn(file.name));
      }
    }
    std::set<std::int64_t> there;
    for (const RankTrace& file : found_.files)
      there.insert(file.rank);
    for (int rank = 0; rank < nproc; ++rank) {
      if (!there.contains(rank)) found_.missing.push_back(rank);
    }
    return std::move(found_);
  }

 private:
  void Look(const std::string& path, const Entry& entry, std::optional<std::int64_t> rank) {
    if (!rank || !(path.ends_with(".json") || path.ends_with(".json.gz"))) return;
    const bool known = std::any_of(known_.begin(), known_.end(), [&](const RankTrace& file) {
      return file.file == path && file.bytes == entry.bytes;
    });
    if (known || IsWhole(folder_, path, entry.bytes)) {
      found_.files.push_back({*rank, path, entry.bytes});
    } else {
      found_.damaged.push_back(path);
    }
  }

  const int folder_;
  const std::vector<RankTrace>& known_;
  RunTraces found_;
};

std::string Listed(const std::vector<std::int64_t>& numbers) {
  std::string list;
  for (std::size_t i = 0; i < numbers.size() && i < 8; ++i)
    list += fmt::format("{}{}", i == 0 ? "" : ", ", numbers[i]);
  return list + (numbers.size() > 8 ? ", ..." : "");
}

}  // namespace

std::string_view StateName(RunState state) {
  return kStates.at(static_cast<std::size_t>(state));
}

std::optional<RunState> FindState(std::string_view name) {
  const auto* found = std::find(kStates.begin(), kStates.end(), name);
  if (found == kStates.end()) return std::nullopt;
  return static_cast<RunState>(found - kStates.begin());
}

std::optional<std::string> ReadSmall(int folder, const std::string& name) {
  const FileDescriptor file = io::OpenFileBelow(folder, name, O_RDONLY);
  struct stat status {};
  if (!file.valid() || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    return std::nullopt;
  std::string text;
  std::array<char, 16384> buffer{};
  while (text.size() <= kSmallBytesMax) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  if (text.size() > kSmallBytesMax) return std::nullopt;
  return text;
}

RunTraces FindTraces(int run_folder, int nproc, const std::vector<RankTrace>& known) {
  return TraceFinder(run_folder, known).Find(nproc);
}

SweepState::SweepState(int folder, Records records)
    : folder_(folder), records_(std::move(records)) {
  if (folder_ < 0) return;
  // By their stamps the last one is the newest.
  for (const Entry& entry : Entries(folder_, "")) {
    if (entry.folder || !entry.name.starts_with(kSummaryStart)) continue;
    if (const auto text = ReadSmall(folder_, entry.name)) summary_ = ReadSummary(*text);
  }
}

const RunRecord* SweepState::Find(const std::string& directory) const {
  const auto found = records_.find(directory);
  return found == records_.end() ? nullptr : &found->second;
}

// By sweep.json, else by the file that our scripts leave, else by the table of runs.
std::optional<bool> SweepState::EndedWell(const PlannedRun& run, int run_folder) const {
  if (const RunRecord* record = Find(run.directory)) return record->state == RunState::kSuccess;
  if (const auto code = ReadSmall(run_folder, "exit_code")) return Trim(*code) == "0";
  for (const SummaryLine& line : summary_) {
    if (line.values == run.values && line.row.status != RunStatus::kUnknown &&
        line.row.status != RunStatus::kSkipped) {
      return line.row.status == RunStatus::kSuccess;
    }
  }
  return std::nullopt;
}

Completion SweepState::Check(const PlannedRun& run, int nproc) const {
  Completion found;
  const FileDescriptor folder =
      folder_ < 0 ? FileDescriptor()
                  : io::OpenFolderBelow(folder_, run.directory, io::Missing::kFail);
  found.exists = folder.valid();
  if (!found.exists) {
    found.why = "not run yet";
    return found;
  }
  const auto ended_well = EndedWell(run, folder.get());
  if (!ended_well.value_or(false)) {
    found.why = ended_well ? "the last attempt failed" : "how the last attempt ended is not known";
    return found;
  }
  const RunRecord* record = Find(run.directory);
  found.traces = FindTraces(folder.get(), nproc,
                            record == nullptr ? std::vector<RankTrace>() : record->traces);
  found.complete = found.traces.missing.empty();
  if (!found.complete) {
    found.why = fmt::format("no whole trace of rank {}", Listed(found.traces.missing));
  }
  return found;
}

std::optional<double> SweepState::MeanSeconds() const {
  double sum = 0;
  int count = 0;
  for (const auto& [directory, record] : records_) {
    if (record.state != RunState::kSuccess || !record.duration_s) continue;
    sum += *record.duration_s;
    ++count;
  }
  for (const SummaryLine& line : summary_) {
    if (!records_.empty() || line.row.status != RunStatus::kSuccess || !line.row.duration_s)
      continue;
    sum += static_cast<double>(*line.row.duration_s);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / count;
}

std::optional<double> SweepState::MeanBytes(const Plan& plan) const {
  constexpr int kDepth = 6;
  double sum = 0;
  int count = 0;
  for (const PlannedRun& run : plan.runs) {
    const FileDescriptor folder =
        folder_ < 0 ? FileDescriptor()
                    : io::OpenFolderBelow(folder_, run.directory, io::Missing::kFail);
    if (!folder.valid() || !EndedWell(run, folder.get()).value_or(false)) continue;
    sum += static_cast<double>(BytesBelow(folder_, run.directory, kDepth));
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / count;
}

}  // namespace jarvis::launch
