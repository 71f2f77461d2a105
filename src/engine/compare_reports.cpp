#include "engine/compare_reports.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "base/parallel.h"
#include "compat/tracelens_compare.h"
#include "io/text_file.h"
#include "output/csv_writer.h"
#include "output/xlsx_writer.h"
#include "table/csv_reader.h"

namespace jarvis::engine {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kTableBytesMax = std::size_t{1} << 30;
constexpr std::size_t kTablesMax = 1000;  // of a directory

// What a report is called where nobody names it: the file's name without its endings.
std::string TagOf(const std::string& path) {
  std::string name = fs::path(path).lexically_normal().filename().string();
  if (name.empty()) name = fs::path(path).lexically_normal().parent_path().filename().string();
  for (const std::string_view ending : {".gz", ".json", ".pt.trace"}) {
    if (name.size() > ending.size() && name.ends_with(ending))
      name.resize(name.size() - ending.size());
  }
  std::replace(name.begin(), name.end(), ':', '_');
  return name.empty() ? "report" : name;
}

// Tags are parts of file names and of column names.
Status CheckName(const std::string& name) {
  constexpr std::size_t kNameMax = 60;
  const bool bad = name.empty() || name.size() > kNameMax || name.front() == '.' ||
                   std::any_of(name.begin(), name.end(), [](char c) {
                     return c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
                   });
  if (!bad) return {};
  return Fail(ErrorCode::kBadValue,
              fmt::format("names: \"{}\" cannot be part of a file name", name.substr(0, kNameMax)),
              "give short names such as h100,mi300x");
}

Result<std::vector<std::string>> TagsOf(const CompareRequest& request,
                                        const std::vector<std::string>& paths) {
  std::vector<std::string> tags = request.names;
  if (tags.empty()) {
    std::set<std::string> taken;
    for (const std::string& path : paths) {
      const std::string tag = TagOf(path);
      std::string free = tag;
      for (int n = 2; !taken.insert(free).second; ++n)
        free = fmt::format("{}~{}", tag, n);
      tags.push_back(std::move(free));
    }
  } else if (tags.size() != paths.size()) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("names: {} for {} reports", tags.size(), paths.size()),
                "give as many names as reports, or none");
  }
  for (const std::string& tag : tags)
    JV_TRY(CheckName(tag));
  if (std::set<std::string>(tags.begin(), tags.end()).size() != tags.size()) {
    return Fail(ErrorCode::kBadValue, "names: two reports have the same", "give different names");
  }
  return tags;
}

Result<std::vector<Table>> ReportOf(const LoadedTrace& trace, Compat compat, Job& job) {
  ReportOptions options;
  options.compat = compat;
  options.kernel_summary = true;
  return MakeReport(trace, options, job);
}

}  // namespace

bool IsReportDirectory(const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

Result<std::vector<Table>> ReadReport(const std::string& directory) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".csv") files.push_back(it->path());
  }
  if (error) {
    return Fail(ErrorCode::kIo, fmt::format("cannot list \"{}\": {}", directory, error.message()));
  }
  if (files.empty() || files.size() > kTablesMax) {
    return Fail(ErrorCode::kBadValue,
                fmt::format("{} CSV tables in \"{}\"", files.size(), directory),
                "give a directory that perf_report wrote, or a trace");
  }
  std::sort(files.begin(), files.end());
  std::vector<Table> tables;
  for (const fs::path& file : files) {
    JV_ASSIGN(const std::string text, io::ReadTextFile(file.string(), kTableBytesMax));
    std::string problem;
    std::optional<Table> table = ParseCsv(file.stem().string(), text, &problem);
    if (!table) {
      return Fail(ErrorCode::kBadValue, fmt::format("\"{}\": {}", file.string(), problem));
    }
    tables.push_back(std::move(*table));
  }
  return tables;
}

Result<ReportComparison> CompareReports(Workspace& workspace, const CompareRequest& request,
                                        Job& job) {
  if (request.inputs.size() < 2 || request.inputs.size() > analysis::kReportsMax) {
    return Fail(ErrorCode::kBadValue, fmt::format("{} reports; a comparison has 2 to {}",
                                                  request.inputs.size(), analysis::kReportsMax));
  }
  JV_ASSIGN(const analysis::SheetChoice choice, analysis::ChooseSheets(request.sheets));
  std::vector<analysis::ReportTables> reports;
  std::vector<std::string> paths;
  for (const std::string& input : request.inputs) {
    JV_TRY(job.Check());
    if (IsReportDirectory(input)) {
      JV_ASSIGN(std::vector<Table> tables, ReadReport(input));
      reports.push_back({"", std::move(tables)});
      std::error_code ignored;
      paths.push_back(fs::absolute(input, ignored).string());
    } else {
      JV_ASSIGN(const auto trace, workspace.Open(input, job));
      JV_ASSIGN(std::vector<Table> tables, ReportOf(*trace, request.compat, job));
      reports.push_back({"", std::move(tables)});
      paths.push_back(trace->path());
    }
  }
  ReportComparison comparison;
  JV_ASSIGN(comparison.tags, TagsOf(request, paths));
  for (std::size_t i = 0; i < reports.size(); ++i)
    reports[i].tag = comparison.tags[i];
  const analysis::CompareRules rules = request.compat == Compat::kTraceLens
                                           ? compat::TraceLensCompareRules()
                                           : analysis::CompareRules();
  JV_ASSIGN(analysis::ComparedSheets sheets, analysis::CompareSheets(reports, choice, rules));
  JV_TRY(job.Check());
  comparison.tables = std::move(sheets.tables);
  comparison.notes = std::move(sheets.notes);
  return comparison;
}

Result<std::vector<ComparisonFile>> WriteComparison(const ReportComparison& comparison,
                                                    const std::string& directory) {
  const std::vector<Table>& tables = comparison.tables;
  std::vector<Result<std::string>> paths(tables.size());
  Result<output::XlsxFile> book;
  // The workbook is the largest piece of work and goes first.
  ParallelFor(tables.size() + 1, 0, [&](std::size_t piece) {
    if (piece > 0) {
      paths[piece - 1] = output::WriteCsv(tables[piece - 1], directory);
    } else {
      book = output::WriteXlsx(tables, directory + "/comparison.xlsx");
    }
  });
  std::vector<ComparisonFile> files;
  JV_TRY(book);
  files.push_back({book->path, "workbook", book->sheets.size()});
  for (std::size_t i = 0; i < tables.size(); ++i) {
    JV_ASSIGN(std::string path, std::move(paths[i]));
    files.push_back({std::move(path), tables[i].name, tables[i].rows.size()});
  }
  return files;
}

}  // namespace jarvis::engine
