#include "session/report_source.h"

#include <filesystem>

#include <fmt/format.h>

#include "io/input_folder.h"
#include "io/text_file.h"
#include "table/csv_reader.h"
#include "table/xlsx_reader.h"
#include "trace/import/trace_file.h"

namespace jarvis::session {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kEntriesMax = 10'000;  // of a directory
constexpr std::size_t kTablesMax = 1'000;
constexpr std::size_t kBytesMax = std::size_t{512} << 20;  // of all tables of a report

Result<std::vector<Table>> ReadFolder(const io::FilePolicy& files, const std::string& given,
                                      Job& job) {
  // What jarvis analyze wrote has its report in a directory of its own.
  const std::string inside = given + "/perf_report_csvs";
  const std::string folder = io::IsInputFolder(files, inside) ? inside : given;
  JV_ASSIGN(const auto paths, io::FilesInFolder(files, folder, ".csv", kEntriesMax));
  if (paths.empty() || paths.size() > kTablesMax) {
    return Fail(ErrorCode::kBadValue, fmt::format("{} CSV tables in \"{}\"", paths.size(), given),
                "give a directory that perf_report wrote, or a trace");
  }
  std::size_t left = kBytesMax;
  std::vector<Table> tables;
  for (const std::string& path : paths) {
    JV_TRY(job.Check());
    JV_ASSIGN(const std::string text, io::ReadTextFile(files, path, left));
    left -= text.size();
    auto table = ParseCsv(fs::path(path).stem().string(), text);
    if (!table) {
      return Fail(table.error().code, fmt::format("\"{}\": {}", path, table.error().message));
    }
    tables.push_back(std::move(*table));
  }
  return tables;
}

Result<std::vector<Table>> ReadWorkbook(const io::FilePolicy& files, const std::string& given,
                                        Job& job) {
  JV_ASSIGN(const std::string bytes, io::ReadTextFile(files, given, kBytesMax));
  auto tables = ParseXlsx(bytes, job);
  if (!tables) {
    return Fail(tables.error().code, fmt::format("\"{}\": {}", given, tables.error().message),
                tables.error().hint);
  }
  return tables;
}

}  // namespace

SourceKind KindOf(const io::FilePolicy& files, const std::string& given) {
  if (io::IsInputFolder(files, given)) return SourceKind::kFolder;
  if (const auto file = files.OpenInput(given)) {
    if (!file->member.empty()) return SourceKind::kTrace;
    // An archive of traces is one, or as a directory of several.
    const auto inside = trace::TracesInArchive(*file, Job());
    const std::size_t traces = inside ? inside->names.size() : 0;
    if (traces > 0) return traces == 1 ? SourceKind::kTrace : SourceKind::kFolder;
  }
  constexpr std::size_t kStart = 8;
  const auto start = io::ReadStart(files, given, kStart);
  return start && LooksLikeXlsx(*start) ? SourceKind::kWorkbook : SourceKind::kTrace;
}

Result<ReportSource> ReadReport(const io::FilePolicy& files, const std::string& given,
                                SourceKind kind, Job& job) {
  ReportSource source;
  JV_ASSIGN(source.path, files.ResolveInput(given));
  JV_ASSIGN(source.tables, kind == SourceKind::kWorkbook ? ReadWorkbook(files, given, job)
                                                         : ReadFolder(files, given, job));
  return source;
}

}  // namespace jarvis::session
