#include "session/capture_files.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "base/text.h"
#include "io/text_file.h"
#include "session/rank_digests.h"
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

struct CaptureDetails {
  std::int64_t batch = 0;
  std::string mode;
};

// By file name, from the list that servers leave beside their captures.
std::map<std::string, CaptureDetails> ReadDetails(const io::FilePolicy& files,
                                                  const std::string& path) {
  std::map<std::string, CaptureDetails> rows;
  const auto text = io::ReadTextFile(files, path, kDetailsBytes);
  if (!text) return rows;
  const std::size_t begin = text->find('[');
  if (begin == std::string::npos) return rows;
  for (std::string_view entry : trace::ElementsOf(std::string_view(*text).substr(begin))) {
    if (!entry.starts_with("{")) continue;
    entry = entry.substr(1, entry.rfind('}') - 1);
    const std::string file = trace::Unescape(trace::Unquoted(trace::MemberOf(entry, "file")));
    const auto batch = trace::IntegerOf(trace::MemberOf(entry, "batch_size"));
    if (file.empty() || !batch) continue;
    rows[file] = {*batch, trace::Unescape(trace::Unquoted(Trim(trace::MemberOf(entry, "mode"))))};
  }
  return rows;
}

void AddFolder(const io::FilePolicy& files, const std::string& folder,
               std::vector<CaptureSource>* out) {
  const auto found = files.ListFolder(folder, {".json", ".json.gz"}, 1, kCaptureFiles);
  if (!found) return;
  std::map<std::string, CaptureDetails> rows;
  bool listed = false;
  for (const std::string& path : *found) {
    if (FileNameOf(path) != kDetailsName) continue;
    rows.merge(ReadDetails(files, path));
    listed = true;
  }
  for (const std::string& path : *found) {
    const std::string_view name = FileNameOf(path);
    if (name == kDetailsName) continue;
    const auto detail = rows.find(std::string(name));
    CaptureSource source = {path, NumberBehind(name, "bs_"), RankInPath(path), {}, listed, false};
    if (detail != rows.end()) {
      source.batch = detail->second.batch;
      source.mode = detail->second.mode;
      rows.erase(detail);
    }
    out->push_back(std::move(source));
  }
  for (const auto& [name, detail] : rows)
    out->push_back({{}, detail.batch, {}, detail.mode, listed, true});
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
