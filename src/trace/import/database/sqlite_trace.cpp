#include "trace/import/database/sqlite_trace.h"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "io/plain_source.h"
#include "io/sqlite_file.h"
#include "rocprof/read/rocpd_groups.h"
#include "trace/import/nsys/nsys_reader.h"
#include "trace/import/nsys/nsys_tables.h"
#include "trace/import/rocm/rocpd_reader.h"
#include "trace/import/shared/store_elements.h"
#include "trace/import/shared/store_window.h"

namespace jarvis::trace {
namespace {

Fit SniffSqlite(std::string_view head) {
  return head.starts_with(io::kSqliteMagic) ? Fit::kCertain : Fit::kNone;
}

Error SomethingElse(const io::SqliteFile& tables) {
  if (tables.Has("rocpd_op") || tables.Has("rocpd_api")) {
    return {ErrorCode::kNotATrace, "an RPD of rocmProfileData (rocpd_op, rocpd_api)",
            "rpd2tracing.py FILE OUT.json makes a trace of it; or record with rocprofv3 "
            "--output-format rocpd"};
  }
  if (tables.Has("compute_workload") || tables.Has("compute_kernel")) {
    return {ErrorCode::kNotATrace, "a database of rocprofiler-compute",
            "its counters: give rocprof_counters the CSV files of the same run"};
  }
  constexpr std::size_t kShown = 5;
  std::vector<std::string> names;
  for (const auto& [table, columns] : tables.tables()) {
    if (names.size() < kShown) names.push_back(Shortened(OneLine(table), 60));
  }
  return {
      ErrorCode::kNotATrace,
      fmt::format("a SQLite database of something else (its tables: {}); expected an export of "
                  "Nsight Systems or a rocpd database",
                  names.empty() ? std::string("none") : fmt::format("{}", fmt::join(names, ", "))),
      "nsys export --type=sqlite --include-blobs=true makes one of a report; rocprofv3 "
      "--output-format rocpd records one"};
}

// What another program has not yet put into the file.
void NoteUnfinished(const io::InputFile& file, Trace* trace) {
  for (const char* ending : {"-wal", "-journal"}) {
    const auto beside = io::FilePolicy::OpenUnchanged(file.path + ending);
    if (!beside || beside->size == 0 || !trace->metadata.recording) continue;
    Recording recording = *trace->metadata.recording;
    recording.notes.push_back(
        {"unfinished_writing",
         fmt::format("\"{}{}\" ({} bytes) is not read.", file.given, ending, beside->size), 0,
         fmt::format("close the program that writes it, or run: sqlite3 {} 'PRAGMA wal_checkpoint'",
                     "FILE")});
    std::vector<TopLevelValue> values = std::move(trace->metadata.values);
    std::erase_if(values, [](const TopLevelValue& one) { return one.key == "recording"; });
    values.push_back(ValueOf(recording));
    trace->metadata = ReadMetadata(std::move(values));
  }
}

Result<ImportedTrace> ReadSqlite(const TraceInput& input, const ReadOptions& options, Job& job) {
  if (!input.layers.empty() || !input.member.empty() || !input.file.member.empty()) {
    return Fail(ErrorCode::kNotATrace, "a compressed SQLite database",
                "unpack it (gunzip, unzip): its pages are read at random");
  }
  if (input.file.size > options.bytes_max) {
    return Fail(
        ErrorCode::kTooLarge,
        fmt::format("a database of {} bytes; the limit is {}", input.file.size, options.bytes_max),
        "raise --max-trace-bytes");
  }
  ImportedTrace read;
  // In order, which warms the pages up for what comes.
  read.content_hash = io::HashOf(input.file);
  JV_ASSIGN(const auto tables, io::SqliteFile::Open(input.file, job));
  const bool nsys = IsNsysExport(*tables);
  if (!nsys && rocprof::RocpdGroups(*tables).empty())
    return tl::make_unexpected(SomethingElse(*tables));
  const auto read_all = [&] {
    return nsys ? ReadNsysExport(input.file, *tables, options, job)
                : ReadRocpd(input.file, *tables, options, job);
  };
  auto trace = read_all();
  // Damage may look like a row, and is told by what follows.
  if (tables->FoundDamage()) trace = read_all();
  JV_ASSIGN(read.trace, std::move(trace));
  NoteUnfinished(input.file, &read.trace);
  return read;
}

}  // namespace

const Importer kSqliteTrace = {
    .name = "sqlite",
    .what = "databases of Nsight Systems and rocprofv3",
    .one_file = true,
    .sniff = &SniffSqlite,
    .read = &ReadSqlite,
    .survey = &SurveyByReading<kSqliteTrace>,
    .read_window = &WindowOfWhole,
    .elements = &ElementsByReading<&ReadSqlite>,
};

}  // namespace jarvis::trace
