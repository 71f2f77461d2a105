#include "session/capture_files.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "base/text.h"
#include "io/text_file.h"
#include "session/rank_digests.h"
#include "trace/import/trace_file.h"
#include "trace/json_text.h"

namespace jarvis::session {
namespace {

constexpr std::size_t kCaptureFiles = 512;
constexpr std::string_view kDetailsName = "execution_details.json";
constexpr std::size_t kDetailsBytes = std::size_t{1} << 20;

std::string_view FileNameOf(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// The number right behind a word of a file's name, an underscore between them or not: "bs_32".
std::optional<std::int64_t> NumberBehind(std::string_view name, std::string_view word) {
  const std::size_t at = name.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = name.substr(at + word.size());
  if (rest.starts_with("_")) rest.remove_prefix(1);
  return ParseInt(rest.substr(0, rest.find_first_not_of("0123456789")));
}

// What a server says of one of its captures.
struct CaptureDetails {
  std::string path;
  std::int64_t batch = 0;
  std::string mode;
};

// In the order of the list that servers leave beside their captures.
void ReadDetails(const io::FilePolicy& files, const std::string& path,
                 std::vector<CaptureDetails>* rows) {
  const auto text = io::ReadTextFile(files, path, kDetailsBytes);
  if (!text) return;
  const std::size_t begin = text->find('[');
  if (begin == std::string::npos) return;
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  for (std::string_view entry : trace::ElementsOf(std::string_view(*text).substr(begin))) {
    if (!entry.starts_with("{")) continue;
    entry = entry.substr(1, entry.rfind('}') - 1);
    const std::string file = trace::Unescape(trace::Unquoted(trace::MemberOf(entry, "file")));
    const auto batch = trace::IntegerOf(trace::MemberOf(entry, "batch_size"));
    if (file.empty() || !batch) continue;
    rows->push_back({folder + file, *batch,
                     trace::Unescape(trace::Unquoted(Trim(trace::MemberOf(entry, "mode"))))});
  }
}

void AddFolder(const io::FilePolicy& files, const std::string& folder,
               std::vector<CaptureSource>* out) {
  const auto found = files.ListFolder(folder, trace::TraceFileEndings(), 1, kCaptureFiles);
  if (!found) return;
  std::vector<CaptureDetails> rows;
  std::set<std::string> others;
  bool listed = false;
  for (const std::string& path : *found) {
    if (FileNameOf(path) != kDetailsName) {
      others.insert(path);
      continue;
    }
    ReadDetails(files, path, &rows);
    listed = true;
  }
  const std::set<std::string> there = others;
  for (CaptureDetails& row : rows) {
    const bool missing = !there.contains(row.path);
    others.erase(row.path);
    out->push_back({missing ? std::string() : row.path, row.batch,
                    missing ? std::nullopt : RankInPath(row.path), std::move(row.mode), listed,
                    missing});
  }
  for (const std::string& path : others) {
    out->push_back(
        {path, NumberBehind(FileNameOf(path), "bs_"), RankInPath(path), {}, listed, false});
  }
}

}  // namespace

Result<std::string> ResolveCapture(const io::FilePolicy& files, const std::string& given) {
  if (auto folder = files.OpenInputFolder(given)) return std::move(folder->path);
  JV_ASSIGN(io::InputFile file, files.OpenInput(given));
  return std::move(file.path);
}

std::vector<CaptureSource> FindCaptureSources(const io::FilePolicy& files,
                                              const std::string& trace_path,
                                              const std::string& named) {
  std::vector<CaptureSource> out;
  if (named.empty()) {
    const std::string folder = trace_path.substr(0, trace_path.rfind('/') + 1);
    for (const char* name : {"capture", "graph_capture"})
      AddFolder(files, folder + name, &out);
  } else if (files.OpenInputFolder(named)) {
    AddFolder(files, named, &out);
  } else {
    // Whoever names one file means it, whatever its name says of rows.
    out.push_back({named, std::nullopt, RankInPath(named), {}, false, false});
  }
  return out;
}

std::vector<CaptureSource> SourcesForRows(std::vector<CaptureSource> sources,
                                          const std::vector<std::int64_t>& rows) {
  std::set<std::int64_t> known, wanted;
  for (const CaptureSource& source : sources) {
    if (source.batch) known.insert(*source.batch);
  }
  for (const std::int64_t row : rows) {
    const auto least = known.lower_bound(row);
    if (least != known.end()) wanted.insert(*least);
  }
  if (wanted.empty()) return sources;
  std::erase_if(sources, [&](const CaptureSource& source) {
    return source.batch && !wanted.contains(*source.batch);
  });
  return sources;
}

}  // namespace jarvis::session
