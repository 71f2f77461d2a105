#include "io/sqlite_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/text.h"

namespace jarvis::io {
namespace {

constexpr std::size_t kHeadBytes = 100;
constexpr std::size_t kTablesMax = 2000;
constexpr int kCellBytesMax = 64 << 20;
constexpr int kSqlBytesMax = 64 << 10;
// Rows with cells beyond kCellBytesMax that are passed over in one table.
constexpr int kTooLargeMax = 100;

// ---- The file system that SQLite sees: one file that is open already.

struct OpenedFile {
  sqlite3_file base;
  int fd;
};
// The descriptor that the next xOpen of this thread is for.
thread_local int opening_fd = -1;
constexpr const char* kVfsName = "jarvis-input";

int FdOf(sqlite3_file* file) {
  return reinterpret_cast<OpenedFile*>(file)->fd;
}

int VfsRead(sqlite3_file* file, void* to, int bytes, sqlite3_int64 at) {
  int got = 0;
  while (got < bytes) {
    const ssize_t now = ::pread(FdOf(file), static_cast<char*>(to) + got,
                                static_cast<std::size_t>(bytes - got), at + got);
    if (now < 0 && errno == EINTR) continue;
    if (now < 0) return SQLITE_IOERR_READ;
    if (now == 0) break;
    got += static_cast<int>(now);
  }
  if (got == bytes) return SQLITE_OK;
  std::memset(static_cast<char*>(to) + got, 0, static_cast<std::size_t>(bytes - got));
  return SQLITE_IOERR_SHORT_READ;
}

int VfsSize(sqlite3_file* file, sqlite3_int64* bytes) {
  struct stat about {};
  if (::fstat(FdOf(file), &about) != 0) return SQLITE_IOERR_FSTAT;
  *bytes = about.st_size;
  return SQLITE_OK;
}

constexpr sqlite3_io_methods kFileMethods = {
    .iVersion = 1,
    .xClose = [](sqlite3_file*) { return SQLITE_OK; },
    .xRead = &VfsRead,
    .xWrite = [](sqlite3_file*, const void*, int, sqlite3_int64) { return SQLITE_READONLY; },
    .xTruncate = [](sqlite3_file*, sqlite3_int64) { return SQLITE_READONLY; },
    .xSync = [](sqlite3_file*, int) { return SQLITE_OK; },
    .xFileSize = &VfsSize,
    .xLock = [](sqlite3_file*, int) { return SQLITE_OK; },
    .xUnlock = [](sqlite3_file*, int) { return SQLITE_OK; },
    .xCheckReservedLock =
        [](sqlite3_file*, int* reserved) {
          *reserved = 0;
          return SQLITE_OK;
        },
    .xFileControl = [](sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; },
    .xSectorSize = [](sqlite3_file*) { return 4096; },
    .xDeviceCharacteristics = [](sqlite3_file*) { return SQLITE_IOCAP_IMMUTABLE; },
    .xShmMap = nullptr,
    .xShmLock = nullptr,
    .xShmBarrier = nullptr,
    .xShmUnmap = nullptr,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

int VfsOpen(sqlite3_vfs*, const char*, sqlite3_file* file, int flags, int* out_flags) {
  file->pMethods = nullptr;
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0 || opening_fd < 0) return SQLITE_CANTOPEN;
  reinterpret_cast<OpenedFile*>(file)->fd = std::exchange(opening_fd, -1);
  file->pMethods = &kFileMethods;
  if (out_flags != nullptr) *out_flags = SQLITE_OPEN_READONLY;
  return SQLITE_OK;
}

// Null: not registered.
sqlite3_vfs* Vfs() {
  static sqlite3_vfs vfs = [] {
    sqlite3_vfs made{};
    made.iVersion = 1;
    made.szOsFile = sizeof(OpenedFile);
    made.mxPathname = 64;
    made.zName = kVfsName;
    made.xOpen = &VfsOpen;
    made.xDelete = [](sqlite3_vfs*, const char*, int) { return SQLITE_READONLY; };
    made.xAccess = [](sqlite3_vfs*, const char*, int, int* result) {
      *result = 0;
      return SQLITE_OK;
    };
    made.xFullPathname = [](sqlite3_vfs*, const char* name, int size, char* out) {
      sqlite3_snprintf(size, out, "%s", name);
      return SQLITE_OK;
    };
    made.xRandomness = [](sqlite3_vfs*, int bytes, char* out) {
      std::memset(out, 0, static_cast<std::size_t>(bytes));
      return bytes;
    };
    made.xSleep = [](sqlite3_vfs*, int microseconds) { return microseconds; };
    made.xCurrentTime = [](sqlite3_vfs*, double* day) {
      *day = 0;
      return SQLITE_OK;
    };
    made.xGetLastError = [](sqlite3_vfs*, int, char*) { return 0; };
    return made;
  }();
  static const int registered = sqlite3_vfs_register(&vfs, 0);
  return registered == SQLITE_OK ? &vfs : nullptr;
}

std::string Quoted(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name)
    quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

std::uint64_t BigEndian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char c : bytes)
    value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

int StopWhenAsked(void* job) {
  return static_cast<const Job*>(job)->stopped() ? 1 : 0;
}

std::string_view TextOf(sqlite3_stmt* statement, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  return text == nullptr ? std::string_view() : std::string_view(text);
}

}  // namespace

Result<std::unique_ptr<SqliteFile>> SqliteFile::Open(const InputFile& file, const Job& job) {
  return Open(file, job, std::make_shared<Damage>());
}

Result<std::unique_ptr<SqliteFile>> SqliteFile::Another() const {
  return Open(file_, job_, damage_);
}

Result<std::unique_ptr<SqliteFile>> SqliteFile::Open(const InputFile& file, const Job& job,
                                                     std::shared_ptr<Damage> damage) {
  JV_ASSIGN(InputFile again, AnotherOf(file));
  std::unique_ptr<SqliteFile> opened(new SqliteFile(std::move(again), job, std::move(damage)));
  JV_TRY(opened->Connect());
  JV_TRY(opened->ReadSchema());
  return opened;
}

SqliteFile::~SqliteFile() {
  sqlite3_close(database_);
}

Status SqliteFile::Connect() {
  std::string head(kHeadBytes, '\0');
  const ssize_t got = ::pread(file_.fd.get(), head.data(), head.size(), 0);
  if (got < 0) return Fail(ErrorCode::kIo, fmt::format("reading failed: {}", std::strerror(errno)));
  if (static_cast<std::size_t>(got) < head.size())
    return Fail(ErrorCode::kNotATrace, "a SQLite database cut off in its first 100 bytes",
                "copy or export it again");
  if (Vfs() == nullptr) return Fail(ErrorCode::kOutOfMemory, "SQLite cannot be started");
  opening_fd = file_.fd.get();
  const int code =
      sqlite3_open_v2("input", &database_, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, kVfsName);
  opening_fd = -1;
  if (code != SQLITE_OK) return Fail(ErrorCode::kOutOfMemory, "SQLite cannot open a database");
  for (const int off : {SQLITE_DBCONFIG_TRUSTED_SCHEMA, SQLITE_DBCONFIG_ENABLE_TRIGGER,
                        SQLITE_DBCONFIG_ENABLE_VIEW, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION})
    sqlite3_db_config(database_, off, 0, nullptr);
  constexpr std::pair<int, int> kLimits[] = {{SQLITE_LIMIT_LENGTH, kCellBytesMax},
                                             {SQLITE_LIMIT_SQL_LENGTH, kSqlBytesMax},
                                             {SQLITE_LIMIT_ATTACHED, 0},
                                             {SQLITE_LIMIT_TRIGGER_DEPTH, 0},
                                             {SQLITE_LIMIT_WORKER_THREADS, 0}};
  for (const auto& [limit, value] : kLimits)
    sqlite3_limit(database_, limit, value);
  constexpr int kStepsBetweenLooks = 100'000;
  sqlite3_progress_handler(database_, kStepsBetweenLooks, &StopWhenAsked, const_cast<Job*>(&job_));
  const std::string_view all(head);
  const std::uint64_t page = BigEndian(all.substr(16, 2));
  const std::uint64_t page_bytes = page == 1 ? 65536 : std::max<std::uint64_t>(page, 1);
  const std::uint64_t pages = BigEndian(all.substr(28, 4));
  // The number of pages counts only where whoever changed the file last wrote it.
  if (all.substr(24, 4) == all.substr(92, 4) && pages * page_bytes > file_.size) {
    cut_ = fmt::format("the file is cut: its header says {} pages, {} whole ones are there", pages,
                       file_.size / page_bytes);
    // A file that is shorter than it says is refused unless this is on. It cannot be written.
    sqlite3_exec(database_, "PRAGMA writable_schema=ON", nullptr, nullptr, nullptr);
  }
  sqlite3_exec(database_,
               "PRAGMA query_only=ON; PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; "
               "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-8192",
               nullptr, nullptr, nullptr);
  return {};
}

Status SqliteFile::ReadSchema() {
  const auto each = [&](const std::string& sql, const auto& row) {
    sqlite3_stmt* statement = nullptr;
    int code = sqlite3_prepare_v2(database_, sql.c_str(), -1, &statement, nullptr);
    while (code == SQLITE_OK || code == SQLITE_ROW) {
      code = sqlite3_step(statement);
      if (code == SQLITE_ROW && !row(statement)) break;
    }
    sqlite3_finalize(statement);
    return code;
  };
  const int code =
      each("SELECT name, sql FROM sqlite_master WHERE type='table'", [&](sqlite3_stmt* row) {
        const std::string_view sql = Trim(TextOf(row, 1));
        constexpr std::string_view kVirtual = "create virtual";
        if (!sql.empty() && !EqualsNoCase(sql.substr(0, kVirtual.size()), kVirtual))
          tables_.emplace(TextOf(row, 0), std::vector<std::string>());
        return tables_.size() <= kTablesMax;
      });
  JV_TRY(job_.Check());
  if (tables_.size() > kTablesMax) {
    return Fail(ErrorCode::kTooLarge,
                fmt::format("a database with more than {} tables", kTablesMax));
  }
  if (code != SQLITE_DONE && tables_.empty()) {
    return Fail(ErrorCode::kNotATrace,
                fmt::format("a damaged SQLite database: no table can be read ({})",
                            sqlite3_errmsg(database_)),
                "copy or export it again");
  }
  for (auto& [table, columns] : tables_) {
    each(fmt::format("PRAGMA table_xinfo({})", Quoted(table)), [&to = columns](sqlite3_stmt* row) {
      // Others are hidden, or made by expressions of the file's.
      if (sqlite3_column_int(row, 6) == 0) to.emplace_back(TextOf(row, 1));
      return true;
    });
  }
  schema_read_ = true;
  sqlite3_set_authorizer(database_, &SqliteFile::Authorize, this);
  return job_.Check();
}

// Reading stored columns of real tables, and nothing else.
int SqliteFile::Authorize(void* self, int action, const char* first, const char*, const char*,
                          const char*) {
  if (action == SQLITE_SELECT) return SQLITE_OK;
  const auto& tables = static_cast<const SqliteFile*>(self)->tables_;
  return action == SQLITE_READ && first != nullptr && tables.contains(first) ? SQLITE_OK
                                                                             : SQLITE_DENY;
}

bool SqliteFile::FoundDamage() const {
  const std::lock_guard lock(damage_->mutex);
  return !damage_->rows.empty();
}

std::uint64_t SqliteFile::GoodRows(const std::string& table) const {
  const std::lock_guard lock(damage_->mutex);
  const auto found = damage_->rows.find(table);
  return found == damage_->rows.end() ? std::numeric_limits<std::uint64_t>::max() : found->second;
}

SqliteRows SqliteFile::Read(const std::string& table,
                            const std::vector<std::string_view>& columns) {
  SqliteRows rows(this, table);
  rows.places_.assign(columns.size(), -1);
  const auto found = tables_.find(table);
  if (found == tables_.end()) return rows;
  int place = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const auto& there = found->second;
    const auto same = std::find(there.begin(), there.end(), columns[i]);
    if (same == there.end()) continue;
    rows.places_[i] = place++;
    rows.columns_ += (rows.columns_.empty() ? "" : ", ") + Quoted(*same);
  }
  if (place > 0) rows.Prepare(0);
  return rows;
}

SqliteRows::SqliteRows(SqliteFile* file, std::string table)
    : file_(file), table_(std::move(table)), good_rows_(file->GoodRows(table_)) {}

SqliteRows::SqliteRows(SqliteRows&& other) noexcept
    : file_(other.file_),
      table_(std::move(other.table_)),
      columns_(std::move(other.columns_)),
      places_(std::move(other.places_)),
      statement_(std::exchange(other.statement_, nullptr)),
      rows_(other.rows_),
      odd_cells_(other.odd_cells_),
      too_large_(other.too_large_),
      good_rows_(other.good_rows_),
      damage_(std::move(other.damage_)) {}

SqliteRows::~SqliteRows() {
  sqlite3_finalize(statement_);
}

void SqliteRows::Prepare(std::uint64_t passed) {
  sqlite3_finalize(std::exchange(statement_, nullptr));
  std::string sql = fmt::format("SELECT {} FROM {}", columns_, Quoted(table_));
  if (passed > 0) sql += fmt::format(" LIMIT -1 OFFSET {}", passed);
  if (sqlite3_prepare_v2(file_->database_, sql.c_str(), -1, &statement_, nullptr) == SQLITE_OK)
    return;
  damage_ = fmt::format("rows of {} cannot be read ({})", table_, sqlite3_errmsg(file_->database_));
  sqlite3_finalize(std::exchange(statement_, nullptr));
}

void SqliteRows::EndEarly(std::string_view why) {
  damage_ = fmt::format("rows of {} end early, after {} ({})", table_, rows_, why);
  sqlite3_finalize(std::exchange(statement_, nullptr));
  const std::lock_guard lock(file_->damage_->mutex);
  file_->damage_->rows.try_emplace(table_, rows_ == 0 ? 0 : rows_ - 1);
}

bool SqliteRows::Next() {
  while (statement_ != nullptr) {
    const int code = rows_ < good_rows_ ? sqlite3_step(statement_) : SQLITE_CORRUPT;
    if (code == SQLITE_ROW) {
      if (++rows_ <= file_->RowsMax()) return true;
      EndEarly("it has more than fit the file");  // pages that are their own descendants
      return false;
    }
    if ((code & 0xFF) == SQLITE_TOOBIG && too_large_ < kTooLargeMax) {
      ++too_large_;
      ++odd_cells_;
      Prepare(++rows_);
      continue;
    }
    if ((code & 0xFF) == SQLITE_NOMEM) throw std::bad_alloc();
    if (code != SQLITE_DONE && !file_->job_.stopped()) {
      EndEarly(sqlite3_errstr(code));
      return false;
    }
    sqlite3_finalize(std::exchange(statement_, nullptr));
  }
  return false;
}

std::int64_t SqliteRows::IntAt(int place) {
  return sqlite3_column_int64(statement_, place);
}

std::int64_t SqliteRows::ZeroOrAbsent(int place) {
  const int type = sqlite3_column_type(statement_, place);
  if (type == SQLITE_INTEGER) return 0;
  if (type != SQLITE_NULL) ++odd_cells_;
  return kAbsent;
}

std::optional<double> SqliteRows::Number(int column) {
  const int at = places_[static_cast<std::size_t>(column)];
  if (at < 0) return std::nullopt;
  const int type = sqlite3_column_type(statement_, at);
  if (type == SQLITE_INTEGER || type == SQLITE_FLOAT) return sqlite3_column_double(statement_, at);
  if (type != SQLITE_NULL) ++odd_cells_;
  return std::nullopt;
}

std::optional<std::string_view> SqliteRows::Text(int column) {
  const int at = places_[static_cast<std::size_t>(column)];
  if (at < 0 || sqlite3_column_type(statement_, at) != SQLITE_TEXT) return std::nullopt;
  return TextOf(statement_, at);
}

std::string_view SqliteRows::Blob(int column) {
  const int at = places_[static_cast<std::size_t>(column)];
  if (at < 0 || sqlite3_column_type(statement_, at) != SQLITE_BLOB) return {};
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, at));
  return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_, at))};
}

}  // namespace jarvis::io
