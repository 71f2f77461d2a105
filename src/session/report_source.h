// One input of a comparison of reports: a trace, or the tables that a report of it was written as,
// ours or the reference's.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/job.h"
#include "io/file_policy.h"
#include "perf/platform.h"
#include "session/loaded_trace.h"
#include "table/table.h"

namespace jarvis::session {

enum class SourceKind : std::uint8_t { kTrace, kFolder, kWorkbook };
// By what it is, not by its name. A trace's id, and whatever cannot be looked at, is a trace.
SourceKind KindOf(const io::FilePolicy& files, const std::string& given);

struct ReportSource {
  std::string path;                          // absolute
  std::shared_ptr<const LoadedTrace> trace;  // null: the tables are here
  std::optional<perf::Platform> platform;    // of a trace: what its roofs are of
  std::vector<Table> tables;
};

// The tables of a directory (every *.csv, by name) or of a workbook (its sheets). Not for traces.
// Errors: kBadValue if there is none or one is no table, kTooLarge, kNotAllowed, kIo.
Result<ReportSource> ReadReport(const io::FilePolicy& files, const std::string& given,
                                SourceKind kind, Job& job);

}  // namespace jarvis::session
