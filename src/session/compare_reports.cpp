#include "session/compare_reports.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <malloc.h>

#include "base/text.h"
#include "session/mode.h"

namespace jarvis::session {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kNameBytesMax = 60;

// Tags are parts of file names and of column names.
bool FitsFileName(const std::string& name) {
  return !name.empty() && name.size() <= kNameBytesMax && name.front() != '.' &&
         std::none_of(name.begin(), name.end(), [](char c) {
           return c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
         });
}

// What a report is called where nobody names it: the file's name without its endings.
std::string TagOf(const fs::path& path) {
  std::string name = path.filename().string();
  for (const std::string_view ending : {".gz", ".json", ".pt.trace", ".xlsx"}) {
    if (name.size() > ending.size() && name.ends_with(ending))
      name.resize(name.size() - ending.size());
  }
  name = ValidUtf8(Utf8Prefix(name, kNameBytesMax - 4));  // room for "~64"
  std::replace(name.begin(), name.end(), ':', '_');
  return FitsFileName(name) ? name : "report";
}

// Files of one name are told apart by their directories, else by numbers.
std::vector<std::string> TagsFromPaths(const std::vector<ReportSource>& sources) {
  std::set<std::string> files;
  std::set<std::string> folders;
  for (const ReportSource& source : sources) {
    files.insert(TagOf(source.path));
    folders.insert(TagOf(fs::path(source.path).parent_path()));
  }
  const bool by_folder = files.size() == 1 && folders.size() == sources.size();
  std::vector<std::string> tags;
  std::set<std::string> taken;
  for (const ReportSource& source : sources) {
    const fs::path path(source.path);
    const std::string tag = TagOf(by_folder ? path.parent_path() : path);
    std::string free = tag;
    for (int n = 2; !taken.insert(free).second; ++n)
      free = fmt::format("{}~{}", tag, n);
    tags.push_back(std::move(free));
  }
  return tags;
}

// Beside the tables of several reports there is no room for all that was found out about their
// traces, which is made anew when somebody asks for it.
void MakeRoom(const ReportSource& source) {
  constexpr std::size_t kDerivedBesideReports = std::size_t{32} << 20;
  if (source.trace == nullptr) return;
  if (source.trace->derived().MemoryBytes() <= kDerivedBesideReports) return;
  source.trace->derived().Shrink(kDerivedBesideReports);
  // The heaps of other threads keep what was made there, of which this one has no use.
  ::malloc_trim(0);
}

Result<std::vector<Table>> TablesOf(const ReportSource& source, Compat compat, Job& job) {
  if (source.trace == nullptr) return source.tables;
  ReportOptions options;
  options.compat = compat;
  options.kernel_summary = true;
  if (JudgesPairs(compat)) options.platform = source.platform;
  return MakeReport(*source.trace, options, job);
}

}  // namespace

bool JudgesPairs(Compat compat) {
  return ModeOf(compat).judges_comparisons;
}

Result<std::vector<std::string>> TagsOf(const CompareRequest& request) {
  if (request.names.empty()) return TagsFromPaths(request.sources);
  const std::vector<std::string>& tags = request.names;
  if (tags.size() != request.sources.size()) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("names: {} for {} reports", tags.size(), request.sources.size()),
                "give as many names as reports, or none");
  }
  for (const std::string& tag : tags) {
    if (FitsFileName(tag)) continue;
    return Fail(ErrorCode::kBadValue,
                fmt::format("names: \"{}\" cannot be part of a file name",
                            ValidUtf8(Utf8Prefix(tag, kNameBytesMax))),
                "give short names such as h100,mi300x");
  }
  if (std::set<std::string>(tags.begin(), tags.end()).size() != tags.size()) {
    return Fail(ErrorCode::kBadValue, "names: two reports have the same", "give different names");
  }
  return tags;
}

Result<ReportComparison> CompareReports(const CompareRequest& request, Job& job) {
  const std::size_t count = request.sources.size();
  if (count < 2 || count > analysis::kReportsMax) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("{} reports; a comparison has 2 to {}", count, analysis::kReportsMax));
  }
  JV_ASSIGN(const analysis::SheetChoice choice, analysis::ChooseSheets(request.sheets));
  ReportComparison comparison;
  JV_ASSIGN(comparison.tags, TagsOf(request));
  for (const ReportSource& source : request.sources)
    MakeRoom(source);
  std::vector<analysis::ReportTables> reports;
  for (std::size_t i = 0; i < count; ++i) {
    JV_TRY(job.Check());
    job.Report(i, count, "reports");
    JV_ASSIGN(std::vector<Table> tables, TablesOf(request.sources[i], request.compat, job));
    reports.push_back({comparison.tags[i], std::move(tables)});
    MakeRoom(request.sources[i]);
  }
  const Mode& mode = ModeOf(request.compat);
  const analysis::CompareRules rules = mode.compare_rules();
  JV_ASSIGN(analysis::ComparedSheets sheets,
            analysis::CompareSheets(std::move(reports), choice, rules));
  JV_TRY(job.Check());
  comparison.tables = std::move(sheets.tables);
  comparison.notes = std::move(sheets.notes);
  return comparison;
}

}  // namespace jarvis::session
