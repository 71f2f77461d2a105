// A database of SQLite that nobody vouches for, read table by table.
//
// SQLite reads through a descriptor that FilePolicy opened and opens nothing itself: no journal, no
// lock, no shared memory, no temporary file. Nothing of the file's schema can run: views, triggers,
// virtual tables, generated columns, functions. A table is read once through in the order of its
// rows; nothing is sorted, joined or counted by SQLite.
//
// Threads: one at a time; several SqliteFiles of one InputFile may be used at once.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/job.h"
#include "base/result.h"
#include "io/file_policy.h"

struct sqlite3;
struct sqlite3_stmt;

namespace jarvis::io {

inline constexpr std::string_view kSqliteMagic{"SQLite format 3\0", 16};

class SqliteRows;

class SqliteFile {
 public:
  // Errors: kNotATrace (cut off in its first bytes, or nothing of it can be read), kTooLarge (too
  // many tables), kCancelled, kIo. The job must outlive it.
  static Result<std::unique_ptr<SqliteFile>> Open(const InputFile& file, const Job& job);
  // Another connection to the same file, which knows of the same damage.
  Result<std::unique_ptr<SqliteFile>> Another() const;
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;
  ~SqliteFile();

  // Real tables by name, each with the columns that are stored in it. Views and virtual tables are
  // none.
  const std::map<std::string, std::vector<std::string>>& tables() const { return tables_; }
  bool Has(const std::string& table) const { return tables_.contains(table); }
  // A sentence if the file is shorter than its header says; else empty.
  const std::string& cut() const { return cut_; }

  // Whether a table was found to end early since it was opened. The last row before the damage may
  // be a part of it: whoever reads again gets those before it.
  bool FoundDamage() const;

  // The rows of a table, of those columns; a column that the table lacks is absent in every row.
  // No rows where there is no such table.
  SqliteRows Read(const std::string& table, const std::vector<std::string_view>& columns);

 private:
  friend class SqliteRows;
  // Where tables end early: how many of their rows are good.
  struct Damage {
    std::mutex mutex;
    std::map<std::string, std::uint64_t> rows;
  };

  SqliteFile(InputFile file, const Job& job, std::shared_ptr<Damage> damage)
      : file_(std::move(file)), job_(job), damage_(std::move(damage)) {}
  static Result<std::unique_ptr<SqliteFile>> Open(const InputFile& file, const Job& job,
                                                  std::shared_ptr<Damage> damage);
  // What was known when a reading of the table began.
  std::uint64_t GoodRows(const std::string& table) const;
  Status Connect();
  Status ReadSchema();
  // A row takes four bytes of a page at least.
  std::uint64_t RowsMax() const { return file_.size / 4 + 1; }
  static int Authorize(void* self, int action, const char* first, const char* second,
                       const char* database, const char* trigger);

  InputFile file_;
  const Job& job_;
  std::shared_ptr<Damage> damage_;
  sqlite3* database_ = nullptr;
  bool schema_read_ = false;
  std::map<std::string, std::vector<std::string>> tables_;
  std::string cut_;
};

// Rows one after the other. Cells live until the next row.
class SqliteRows {
 public:
  static constexpr std::int64_t kAbsent = std::numeric_limits<std::int64_t>::min();

  SqliteRows(SqliteRows&& other) noexcept;
  SqliteRows& operator=(SqliteRows&&) = delete;
  ~SqliteRows();

  // False at the end, and where the table cannot be read further.
  bool Next();
  // Rows so far, those passed over included: their cells are too large.
  std::uint64_t rows() const { return rows_; }

  // Places in the list of columns. A cell that is no whole number is absent and counts as odd, NULL
  // is absent.
  std::int64_t Int(int column) {
    const int at = places_[static_cast<std::size_t>(column)];
    if (at < 0) return kAbsent;
    const std::int64_t value = IntAt(at);
    return value != 0 ? value : ZeroOrAbsent(at);
  }
  // The same of a time in nanoseconds: absent and odd beyond 36 years from its clock's origin.
  std::int64_t Time(int column) {
    constexpr std::int64_t kMost = std::int64_t{1} << 60;
    const std::int64_t value = Int(column);
    if (value == kAbsent || (value <= kMost && value >= -kMost)) return value;
    ++odd_cells_;
    return kAbsent;
  }
  std::optional<double> Number(int column);
  // Absent: NULL, or no text. Ends at a NUL byte; may be no UTF-8.
  std::optional<std::string_view> Text(int column);
  // Bytes that are no text; empty: none.
  std::string_view Blob(int column);
  bool HasColumn(int column) const { return places_[static_cast<std::size_t>(column)] >= 0; }

  std::uint64_t odd_cells() const { return odd_cells_; }
  // A sentence if its reading ended before its end; else empty.
  const std::string& damage() const { return damage_; }

 private:
  friend class SqliteFile;
  SqliteRows(SqliteFile* file, std::string table);
  void EndEarly(std::string_view why);
  void Prepare(std::uint64_t passed);
  std::int64_t IntAt(int place);
  std::int64_t ZeroOrAbsent(int place);

  SqliteFile* file_;
  std::string table_;
  std::string columns_;      // of the statement
  std::vector<int> places_;  // of each asked column in the statement; -1: the table has none
  sqlite3_stmt* statement_ = nullptr;
  std::uint64_t rows_ = 0;
  std::uint64_t odd_cells_ = 0;
  int too_large_ = 0;  // rows passed over
  std::uint64_t good_rows_;
  std::string damage_;
};

}  // namespace jarvis::io
