#include "session/rank_digests.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/limits.h"
#include "base/parallel.h"
#include "base/text.h"
#include "session/loaded_trace.h"
#include "session/rank_ledger.h"
#include "trace/import/trace_file.h"
#include "trace/rank_label.h"

namespace jarvis::session {
namespace {

constexpr int kDepthMax = 6;
// A digest holds 100 bytes per collective: two million of them.
constexpr std::size_t kDigestBytesMax = std::size_t{256} << 20;

constexpr std::size_t kDigestHeadBytes = 256;

using analysis::RankDigest;
using Digests = std::vector<RankDigest>;

std::string FileName(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// What tells the files of a job apart: the path without what all have in common.
std::vector<std::string> ShortNames(const std::vector<std::string>& paths) {
  std::size_t common = paths.empty() ? 0 : paths.front().rfind('/') + 1;
  for (const std::string& path : paths) {
    while (common > 0 && path.compare(0, common, paths.front(), 0, common) != 0)
      common = paths.front().rfind('/', common - 2) + 1;
  }
  std::vector<std::string> names;
  for (const std::string& path : paths)
    names.push_back(path.substr(common));
  return names;
}

class Reader {
 public:
  Reader(const io::FilePolicy& files, const RankDigestOptions& options, int threads)
      : files_(files), options_(options), threads_(threads) {}

  struct About {
    std::uint64_t hash = 0;    // of a trace's content
    std::int64_t of_host = 0;  // devices of a host whose recording it is; 0: it is one rank's
  };
  Result<Digests> Read(const std::string& path, About* about, Job& job) const {
    JV_ASSIGN(io::InputFile file, files_.OpenInput(path));
    JV_ASSIGN(const trace::TraceFile opened, trace::TraceFile::Open(std::move(file), job));
    if (options_.is_digest && options_.is_digest(opened.head().substr(0, kDigestHeadBytes))) {
      JV_ASSIGN(const std::string text, ReadDigestText(opened, job));
      return options_.read_digest(text);
    }
    const std::uint64_t bytes_max =
        options_.trace_bytes_max > 0 ? options_.trace_bytes_max : limits::kTraceBytesMax;
    JV_ASSIGN(trace::ImportedTrace read,
              opened.Read({.threads = threads_, .bytes_max = bytes_max}, job));
    JV_ASSIGN(const auto trace, LoadRead(std::move(read), threads_, job));
    JV_ASSIGN(Digests digests, DigestsOfTrace(*trace, job));
    about->hash = trace->content_hash();
    if (trace->events().dialect.Name().starts_with("xplane"))
      about->of_host = static_cast<std::int64_t>(trace->trace().metadata.devices.size());
    for (RankDigest& digest : digests) {
      digest.trace_id = ShortId(about->hash);
      digest.damage = trace->trace().damage;
    }
    return digests;
  }

 private:
  static Result<std::string> ReadDigestText(const trace::TraceFile& file, const Job& job) {
    JV_ASSIGN(const auto bytes, file.Bytes(job));
    std::string text;
    for (;;) {
      const std::size_t filled = text.size();
      text.resize(filled + limits::kSliceBytes);
      JV_ASSIGN(const std::size_t got, bytes->Read({text.data() + filled, limits::kSliceBytes}));
      text.resize(filled + got);
      if (got == 0) break;
      if (text.size() > kDigestBytesMax) {
        return Fail(ErrorCode::kTooLarge,
                    fmt::format("a digest of more than {} bytes", kDigestBytesMax));
      }
    }
    if (!bytes->damage().empty()) return Fail(ErrorCode::kBadValue, bytes->damage());
    return text;
  }

  const io::FilePolicy& files_;
  const RankDigestOptions& options_;
  const int threads_;
};

}  // namespace

std::optional<std::int64_t> RankInPath(std::string_view path) {
  return RanksInPaths({std::string(path)}).front();
}

std::vector<std::optional<std::int64_t>> RanksInPaths(const std::vector<std::string>& paths) {
  std::vector<trace::RankLabel> labels;
  for (const std::string& path : paths) {
    trace::RankLabel& label = labels.emplace_back();
    // A rank by this word counts before other words that are further inside.
    for (std::string_view left = path; !left.empty() && !label.rank;) {
      // What stands in an archive comes before the archive's name.
      const std::size_t slash = left.find_last_of("/#");
      const trace::RankLabel found =
          trace::RankLabelIn(left.substr(slash == std::string_view::npos ? 0 : slash + 1));
      if (found.rank || label.empty()) label = found;
      if (slash == std::string_view::npos) break;
      left = left.substr(0, slash);
    }
  }
  return trace::RanksOfLabels(labels);
}

std::string HostInPath(std::string_view path) {
  std::string_view name = path.substr(path.find_last_of("/#") + 1);
  const std::size_t end = name.find(".pt.trace.json");
  if (end == std::string_view::npos) return "";
  name = name.substr(0, end);
  const auto digits_after = [&](char mark) -> std::optional<std::string_view> {
    const std::size_t at = name.rfind(mark);
    if (at == std::string_view::npos || at + 1 == name.size()) return std::nullopt;
    const std::string_view digits = name.substr(at + 1);
    if (digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
    return name.substr(0, at);
  };
  // Of newer versions there is a time behind the process.
  if (const auto without_time = digits_after('.')) name = *without_time;
  const auto host = digits_after('_');
  return host ? std::string(*host) : "";
}

namespace {

// The first few names and how many there are further.
std::string FirstOf(const std::vector<std::string>& names) {
  constexpr std::size_t kTold = 4;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kTold); ++i)
    text += (text.empty() ? "" : ", ") + names[i];
  if (names.size() > kTold) text += fmt::format(" and {} more", names.size() - kTold);
  return text;
}

// The files in the folders of `paths` that are none of them, in one sentence.
void NameOthers(const io::FilePolicy& files, const std::string& folder,
                const std::vector<std::string>& paths,
                std::vector<analysis::RankWarning>* left_out) {
  const auto all = files.ListFolder(folder, {""}, kDepthMax, kRankFilesMax);
  if (!all) return;
  std::set<std::string_view> folders;
  const std::set<std::string_view> known(paths.begin(), paths.end());
  const auto folder_of = [](std::string_view path) { return path.substr(0, path.rfind('/')); };
  for (const std::string_view path : known)
    folders.insert(folder_of(path));
  std::vector<std::string> names;
  for (const std::string& path : *all) {
    if (!known.contains(path) && folders.contains(folder_of(path))) names.push_back(FileName(path));
  }
  if (names.empty()) return;
  left_out->push_back(
      {"FILES_LEFT_OUT", fmt::format("no traces by their names, left out: {}", FirstOf(names))});
}

// What a viewer was shown of a profile that lies beside it: a million events at most, without
// types.
void WithoutViews(std::vector<std::string>* paths) {
  constexpr std::string_view kView = ".trace.json.gz";
  const std::set<std::string> all(paths->begin(), paths->end());
  std::erase_if(*paths, [&](const std::string& path) {
    return path.ends_with(kView) &&
           all.contains(path.substr(0, path.size() - kView.size()) + ".xplane.pb");
  });
}

// A file, or the traces that are in it where it is an archive of several.
Status AddArchive(const io::InputFile& file, const Job& job, std::vector<std::string>* paths,
                  std::vector<analysis::RankWarning>* left_out) {
  JV_ASSIGN(trace::ArchiveTraces inside, trace::TracesInArchive(file, job));
  if (inside.names.size() <= 1) {
    paths->push_back(file.path);
  } else {
    std::sort(inside.names.begin(), inside.names.end(), NaturallyBefore);
    for (const std::string& name : inside.names)
      paths->push_back(file.path + "#" + name);
  }
  if (left_out == nullptr || inside.names.empty()) return {};
  if (!inside.others.empty()) {
    left_out->push_back({"FILES_LEFT_OUT", fmt::format("no traces in the archive, left out: {}",
                                                       FirstOf(inside.others))});
  }
  if (!inside.damage.empty()) {
    left_out->push_back({"ARCHIVE_DAMAGED",
                         fmt::format("the archive is {}: traces may be missing", inside.damage)});
  }
  return {};
}

// Processes that are no rank, and merged files of ranks that have files of their own.
void LeaveOut(Digests* own, Digests* of_merged, std::vector<analysis::RankWarning>* warnings) {
  const auto works = [](const RankDigest& digest) { return digest.timeline.has_value(); };
  const bool any = std::any_of(own->begin(), own->end(), works);
  if (!any) return;
  std::erase_if(*own, [&](const RankDigest& digest) {
    const bool rank = works(digest) || digest.rank || digest.named_rank;
    if (!rank) {
      warnings->push_back(
          {"NOT_A_RANK",
           fmt::format("{} has no GPU work, and neither its trace nor its name says a "
                       "rank: a process beside the ranks (API server, scheduler), "
                       "left out",
                       digest.source)});
    }
    return !rank;
  });
  std::set<std::int64_t> ranks;
  for (const RankDigest& digest : *own) {
    if (digest.mixed) continue;
    if (const auto rank = digest.rank ? digest.rank : digest.named_rank) ranks.insert(*rank);
  }
  const bool separate = std::any_of(own->begin(), own->end(), [&](const RankDigest& digest) {
    return works(digest) && !digest.mixed;
  });
  std::set<std::string> merged;  // files that tell nothing more
  std::map<std::string, bool> told;
  for (const RankDigest& digest : *of_merged) {
    bool& all = told.try_emplace(digest.source, true).first->second;
    all = all && (!digest.rank || ranks.contains(*digest.rank));
  }
  for (const auto& [source, all] : told) {
    if (all) merged.insert(source);
  }
  for (const RankDigest& digest : *own) {
    if (digest.mixed && separate) merged.insert(digest.source);
  }
  const auto is_merged = [&](const RankDigest& digest) { return merged.contains(digest.source); };
  std::erase_if(*own, is_merged);
  std::erase_if(*of_merged, is_merged);
  for (const std::string& source : merged) {
    warnings->push_back(
        {"MERGED_LEFT_OUT",
         fmt::format("{} holds several ranks whose own traces lie beside it: it is left out",
                     source)});
  }
}

}  // namespace

Result<std::vector<std::string>> FindRankFiles(const io::FilePolicy& files,
                                               const std::vector<std::string>& given,
                                               const Job& job,
                                               std::vector<analysis::RankWarning>* left_out) {
  std::vector<std::string> paths;
  for (const std::string& one : given) {
    const auto list = [&](const std::vector<std::string>& endings) {
      return files.ListFolder(one, endings, kDepthMax, kRankFilesMax);
    };
    JV_ASSIGN(std::vector<std::string> below, list(trace::TraceFileEndings()));
    JV_ASSIGN(const std::vector<std::string> archives,
              below.empty() ? list(trace::ArchiveFileEndings()) : std::vector<std::string>());
    if (!below.empty()) {
      WithoutViews(&below);
      paths.insert(paths.end(), below.begin(), below.end());
      if (left_out != nullptr) NameOthers(files, one, below, left_out);
    } else if (!archives.empty()) {
      for (const std::string& path : archives) {
        JV_ASSIGN(const io::InputFile file, files.OpenInput(path));
        JV_TRY(AddArchive(file, job, &paths, left_out));
      }
    } else {
      auto file = files.OpenInput(one);
      if (!file && file.error().code == ErrorCode::kNotATrace) {
        return Fail(ErrorCode::kTraceNotFound,
                    fmt::format("no trace (.json, .json.gz) below \"{}\"", one),
                    "give the directory or the archive that holds one trace a rank, or the traces");
      }
      if (!file) return tl::make_unexpected(std::move(file.error()));
      JV_TRY(AddArchive(*file, job, &paths, left_out));
    }
    if (paths.size() > kRankFilesMax)
      return Fail(ErrorCode::kTooLarge, fmt::format("more than {} files", kRankFilesMax));
  }
  return paths;
}

Result<RankDigests> DigestFiles(const io::FilePolicy& files, const std::vector<std::string>& paths,
                                const RankDigestOptions& options, Job& job) {
  const int cores = options.threads > 0 ? options.threads : DefaultThreads();
  const int at_once =
      static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(cores), paths.size()));
  const Reader reader(files, options, std::max(1, cores / std::max(1, at_once)));
  std::vector<Result<Digests>> read(paths.size());
  std::vector<Reader::About> about(paths.size());
  JV_TRY(ParallelJob(paths.size(), at_once, "reading ranks", job, [&](std::size_t i, Job& inner) {
    read[i] = reader.Read(paths[i], &about[i], inner);
  }));
  RankDigests result;
  result.files = paths.size();
  const std::vector<std::string> names = ShortNames(paths);
  // A file alone has no short name.
  const auto named = RanksInPaths(paths.size() == 1 ? paths : names);
  Digests of_merged;
  std::map<std::string, std::uint64_t> hash_of_id;
  std::int64_t of_hosts = 0;  // devices of the hosts so far
  for (std::size_t i = 0; i < paths.size(); ++i) {
    const std::string name = names[i].empty() ? FileName(paths[i]) : names[i];
    if (!read[i]) {
      result.warnings.push_back(
          {read[i].error().code == ErrorCode::kNotATrace ? "NOT_A_TRACE" : "TRACE_UNREADABLE",
           fmt::format("{} gives nothing: {}", name, read[i].error().message)});
      continue;
    }
    // Hosts come in the order of their files, and each has its devices.
    const std::int64_t first = of_hosts;
    of_hosts += about[i].of_host;
    const bool merged = read[i]->size() > 1;
    if (merged) ++result.merged_files;
    for (RankDigest& digest : *read[i]) {
      // Other content with the same short id is no copy of it.
      const bool taken =
          about[i].hash != 0 &&
          hash_of_id.try_emplace(digest.trace_id, about[i].hash).first->second != about[i].hash;
      if (taken) digest.trace_id = LongId(about[i].hash);
      if (about[i].of_host > 0) digest.rank = first + digest.rank.value_or(0);
      if (digest.source.empty()) {
        digest.source = name;
        if (!merged) digest.named_rank = named[i];
        digest.host = HostInPath(name);
      }
      (merged ? of_merged : result.digests).push_back(std::move(digest));
    }
  }
  LeaveOut(&result.digests, &of_merged, &result.warnings);
  // Of a rank that is there twice the trace of its own counts.
  std::move(of_merged.begin(), of_merged.end(), std::back_inserter(result.digests));
  if (result.digests.empty()) {
    return Fail(ErrorCode::kNotATrace,
                result.warnings.empty() ? "no trace was given" : result.warnings.front().text,
                "give traces that torch.profiler exported, one a rank");
  }
  return result;
}

}  // namespace jarvis::session
