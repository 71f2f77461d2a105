// Tables of a recording on their way to events: one pass each, and what was odd on the way.
//
// Threads: one a reader; several may read one file at once, each over a connection of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/job.h"
#include "io/sqlite_file.h"
#include "trace/import/shared/event_writer.h"

namespace jarvis::trace {

inline constexpr std::int64_t kNoCell = io::SqliteRows::kAbsent;

// What one reader saw.
struct TableTally {
  std::map<std::string, std::uint64_t> counts;  // of rows that are no events, by what they are
  std::vector<std::string> damage;              // sentences without their ends
  std::vector<std::string> missing;             // "TABLE lacks COLUMN"
  std::uint64_t rows = 0;                       // of events, kept or not
  std::uint64_t odd_cells = 0;
  std::int64_t last_ns = kNoCell;  // the last end that was seen

  void Merge(const TableTally& other);
};

class TableReader {
 public:
  TableReader(io::SqliteFile& file, EventWriter& writer, Job& job)
      : file_(file), writer_(writer), job_(job) {}

  TableTally tally;

 protected:
  // Rows of the table of that name, or of none; `needed` of the columns come first. No rows where
  // one of them is missing, which is noted. Errors go to status_, after which there are no rows.
  void EachRow(const std::string& table, const std::vector<std::string_view>& columns,
               std::size_t needed, const std::function<Status(io::SqliteRows&)>& row);
  // Whether the times of a row can be those of an event.
  bool Timed(std::int64_t start, std::int64_t end, const char* what);

  io::SqliteFile& file_;
  EventWriter& writer_;
  Job& job_;
  Status status_;
};

}  // namespace jarvis::trace
