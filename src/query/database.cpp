#include "query/database.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <sqlite3.h>

#include "base/check.h"
#include "base/text.h"
#include "query/functions.h"
#include "query/virtual_table.h"
#include "query/watch.h"
#include "query/watched_memory.h"

namespace jarvis::query {
namespace {

using Clock = std::chrono::steady_clock;

// Of all questions of the process together: what sorting and grouping may hold.
constexpr sqlite3_int64 kHeapBytesMax = sqlite3_int64{512} << 20;
// SQLite cannot be stopped within a function of its own, nor between two of one row. A function
// takes milliseconds for a value of this length, and a question calls so many of them a row at
// most.
constexpr int kValueBytesMax = 1'000'000;
constexpr std::size_t kCallsMax = 300;
constexpr int kSqlBytesMax = 20'000;

struct LimitOf {
  int id;
  int value;
};
constexpr LimitOf kLimits[] = {{SQLITE_LIMIT_LENGTH, kValueBytesMax},
                               {SQLITE_LIMIT_SQL_LENGTH, kSqlBytesMax},
                               {SQLITE_LIMIT_COLUMN, 200},
                               {SQLITE_LIMIT_EXPR_DEPTH, 200},
                               {SQLITE_LIMIT_COMPOUND_SELECT, 50},
                               {SQLITE_LIMIT_VDBE_OP, 100'000},
                               {SQLITE_LIMIT_FUNCTION_ARG, 50},
                               {SQLITE_LIMIT_ATTACHED, 0},
                               {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
                               {SQLITE_LIMIT_VARIABLE_NUMBER, 1},
                               {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
                               {SQLITE_LIMIT_WORKER_THREADS, 0}};

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
using DatabasePtr = std::unique_ptr<sqlite3, CloseDatabase>;

struct FinishStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using StatementPtr = std::unique_ptr<sqlite3_stmt, FinishStatement>;

Result<DatabasePtr> OpenDatabase() {
  sqlite3_hard_heap_limit64(kHeapBytesMax);
  sqlite3* opened = nullptr;
  const int code =
      sqlite3_open_v2(":memory:", &opened,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY, nullptr);
  DatabasePtr database(opened);
  if (code != SQLITE_OK)
    return Fail(ErrorCode::kOutOfMemory, "SQLite cannot open a database in memory");
  // What does not fit the memory is an error, not a file. Tables of SQLite's own that questions may
  // use are made here, as long as there is no authorizer.
  sqlite3_exec(opened, "PRAGMA temp_store=MEMORY; SELECT 1 FROM json_each('[]'), json_tree('[]')",
               nullptr, nullptr, nullptr);
  for (const LimitOf& limit : kLimits)
    sqlite3_limit(opened, limit.id, limit.value);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  return database;
}

using Sources = std::vector<std::unique_ptr<Source>>;

Sources AddTables(sqlite3* database, Catalogue& catalogue, const std::string& prefix) {
  Sources sources;
  for (std::size_t place = 0; place < Schema().size(); ++place) {
    sources.push_back(std::make_unique<Source>(catalogue, place));
    JV_CHECK(AddTable(database, prefix + std::string(Schema()[place].name), sources.back().get()) ==
             SQLITE_OK);
  }
  return sources;
}

// What a question may do, while it is compiled.
struct Guard {
  const Sources& sources;
  const Watch& watch;
  std::size_t calls = 0;  // of functions
};

bool IsReadable(std::string_view table, std::string_view column) {
  constexpr std::string_view kFunctions[] = {"json_each", "json_tree"};
  const auto is_table = [table](std::string_view name) { return EqualsNoCase(name, table); };
  if (std::any_of(std::begin(kFunctions), std::end(kFunctions), is_table)) return true;
  for (const RelationInfo& relation : Schema()) {
    if (is_table(relation.name)) return true;
  }
  // Without a column it may be a part of the question itself. Tables of SQLite's own tell about the
  // program or reach around the authorizer.
  const auto begins = [table](std::string_view name) {
    return EqualsNoCase(table.substr(0, name.size()), name);
  };
  return column.empty() && !begins("sqlite_") && !begins("pragma_") && !begins("dbstat");
}

int Authorize(void* client, int action, const char* first, const char* second,
              const char* /*database*/, const char* /*trigger*/) {
  auto& guard = *static_cast<Guard*>(client);
  const Sources& sources = guard.sources;
  if (std::any_of(sources.begin(), sources.end(), [](const auto& one) { return one->declaring(); }))
    return SQLITE_OK;
  // A question of a few lines can take long to compile.
  if (guard.watch.Over()) return SQLITE_DENY;
  const auto verdict = [](bool allowed) { return allowed ? SQLITE_OK : SQLITE_DENY; };
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_READ:
      return verdict(IsReadable(first == nullptr ? "" : first, second == nullptr ? "" : second));
    case SQLITE_FUNCTION:
      return verdict(++guard.calls <= kCallsMax && second != nullptr && IsAllowedFunction(second));
    default: return SQLITE_DENY;
  }
}

int Stopped(void* client) {
  return static_cast<int>(static_cast<const Watch*>(client)->Over());
}

// "gpu_work has: id, name..."
std::string AttributesOf(const RelationInfo& relation) {
  std::string text = std::string(relation.name) + " has ";
  for (const AttributeInfo& one : relation.attributes)
    text += (&one == relation.attributes.data() ? "" : ", ") + std::string(one.name);
  return text;
}

// What was probably meant, where a name is wrong.
std::string HelpFor(std::string_view message, std::string_view sql) {
  constexpr std::string_view kNoTable = "no such table: ";
  constexpr std::string_view kNoColumn = "no such column: ";
  constexpr std::string_view kNoFunction = "not authorized to use function: ";
  if (message.starts_with(kNoFunction))
    return "; jarvis://query-schema lists the functions that questions may use";
  if (const std::size_t at = message.find(kNoTable); at != std::string_view::npos) {
    std::vector<std::string_view> names;
    std::string all;
    for (const RelationInfo& relation : Schema()) {
      names.push_back(relation.name);
      all += (all.empty() ? "" : ", ") + std::string(relation.name);
    }
    const auto close = Closest(message.substr(at + kNoTable.size()), names);
    return (close ? fmt::format("; did you mean {}?", *close) : std::string(";")) +
           " Tables: " + all;
  }
  const std::size_t at = message.find(kNoColumn);
  if (at == std::string_view::npos) return "";
  std::string_view name = message.substr(at + kNoColumn.size());
  if (name.find('.') != std::string_view::npos) name.remove_prefix(name.rfind('.') + 1);
  std::vector<std::string_view> names;
  std::string tables;
  for (const RelationInfo& relation : Schema()) {
    if (!ContainsNoCase(sql, relation.name)) continue;
    for (const AttributeInfo& one : relation.attributes)
      names.push_back(one.name);
    tables += (tables.empty() ? " " : "; ") + AttributesOf(relation);
  }
  const auto close = Closest(name, names);
  return (close ? fmt::format("; did you mean {}?", *close) : std::string(";")) + tables;
}

Error ErrorOf(sqlite3* database, int code, const Sources& sources, const Watch& watch,
              const Limits& limits, std::string_view sql) {
  for (const auto& source : sources) {
    if (source->error()) return *source->error();
  }
  if (watch.job->stopped()) return watch.job->Check().error();
  if (watch.Over() || (code & 0xFF) == SQLITE_INTERRUPT) {
    return {ErrorCode::kTimeout,
            fmt::format("the question took longer than {} s and was stopped",
                        static_cast<double>(limits.time.count()) / 1000),
            "ask for less: a narrower WHERE, comparisons with indexed columns"};
  }
  const std::string message = sqlite3_errmsg(database);
  switch (code & 0xFF) {
    case SQLITE_NOMEM:
    case SQLITE_FULL:
      return {ErrorCode::kOutOfMemory,
              "the question needs more memory than questions may have together (512 MB)",
              "group or sort fewer rows"};
    case SQLITE_TOOBIG:
      return {ErrorCode::kTooLarge, "SQL: " + message,
              "SQL may have 20,000 bytes, a value or a row that is sorted 1,000,000"};
    case SQLITE_AUTH:
      return {ErrorCode::kBadValue,
              "SQL: only reading is possible: SELECT, WITH ... SELECT, EXPLAIN (" + message + ")",
              ""};
    default: return {ErrorCode::kBadValue, "SQL: " + message + HelpFor(message, sql), ""};
  }
}

Value ValueAt(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER: return std::int64_t{sqlite3_column_int64(statement, column)};
    case SQLITE_FLOAT: return sqlite3_column_double(statement, column);
    case SQLITE_NULL: return {};
    default: {
      const auto* text = static_cast<const char*>(sqlite3_column_blob(statement, column));
      const auto bytes = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
      return text == nullptr ? std::string_view() : std::string_view(text, bytes);
    }
  }
}

}  // namespace

Result<Outcome> Run(Catalogue& catalogue, const std::string& sql, const Limits& limits,
                    const RowSink& sink, const Job& job) {
  JV_ASSIGN(const DatabasePtr database, OpenDatabase());
  Sources sources = AddTables(database.get(), catalogue, "");
  Watch watch{&job, Clock::now() + limits.time};
  constexpr int kStepsBetweenLooks = 100;
  sqlite3_progress_handler(database.get(), kStepsBetweenLooks, &Stopped, &watch);
  const WatchedMemory memory(watch);
  Guard guard{sources, watch};
  sqlite3_set_authorizer(database.get(), &Authorize, &guard);
  const auto fail = [&](int code) -> tl::unexpected<Error> {
    if (guard.calls > kCallsMax) {
      return Fail(ErrorCode::kTooLarge,
                  fmt::format("SQL: functions are called in more than {} places", kCallsMax),
                  "ask in several questions");
    }
    return tl::make_unexpected(ErrorOf(database.get(), code, sources, watch, limits, sql));
  };
  int code = AddFunctions(database.get(), &watch);
  if (code != SQLITE_OK) return fail(code);
  sqlite3_stmt* prepared = nullptr;
  const char* rest = nullptr;
  code = sqlite3_prepare_v2(database.get(), sql.c_str(), static_cast<int>(sql.size()) + 1,
                            &prepared, &rest);
  const StatementPtr statement(prepared);
  if (code != SQLITE_OK) return fail(code);
  if (statement == nullptr) return Fail(ErrorCode::kBadValue, "SQL: there is no statement in it");
  if (!Trim(rest).empty() && Trim(rest) != ";")
    return Fail(ErrorCode::kBadValue, "SQL: one statement at a time");
  Outcome outcome;
  const int columns = sqlite3_column_count(prepared);
  for (int i = 0; i < columns; ++i)
    outcome.columns.emplace_back(sqlite3_column_name(prepared, i));
  std::vector<Value> row(static_cast<std::size_t>(columns));
  while ((code = sqlite3_step(prepared)) == SQLITE_ROW) {
    if (outcome.rows == limits.rows) {
      outcome.complete = false;
      return outcome;
    }
    if (watch.Over()) return fail(SQLITE_INTERRUPT);
    ++outcome.rows;
    for (int i = 0; i < columns; ++i)
      row[static_cast<std::size_t>(i)] = ValueAt(prepared, i);
    sink(row);
  }
  if (code != SQLITE_DONE || watch.Over()) return fail(code);
  return outcome;
}

namespace {

tl::unexpected<Error> NoMemoryForDatabase() {
  return Fail(
      ErrorCode::kOutOfMemory,
      "no memory for the database, which is as large as the trace is in memory",
      "raise the limit on memory (ulimit -v, container), or ask for parts with jarvis query "
      "--csv");
}

}  // namespace

Result<std::string> Export(Catalogue& catalogue, const Job& job) {
  JV_ASSIGN(const DatabasePtr database, OpenDatabase());
  // A database is as large as the trace: the bounds of questions do not fit it.
  sqlite3_hard_heap_limit64(0);
  sqlite3_limit(database.get(), SQLITE_LIMIT_LENGTH, std::numeric_limits<int>::max());
  Sources sources = AddTables(database.get(), catalogue, "source_of_");
  Watch watch{&job, Clock::time_point::max()};
  constexpr int kStepsBetweenLooks = 10'000;
  sqlite3_progress_handler(database.get(), kStepsBetweenLooks, &Stopped, &watch);
  constexpr std::string_view kTypes[] = {"INTEGER", "REAL", "TEXT"};
  for (const RelationInfo& relation : Schema()) {
    std::string columns;
    std::string indices;
    for (const AttributeInfo& one : relation.attributes) {
      columns += fmt::format("{}\"{}\" {}", columns.empty() ? "" : ", ", one.name,
                             kTypes[static_cast<std::size_t>(one.type)]);
      if (one.indexed) {
        indices +=
            fmt::format("CREATE INDEX \"{0}_{1}\" ON \"{0}\"(\"{1}\");", relation.name, one.name);
      }
    }
    const std::string sql = fmt::format(
        "CREATE TABLE \"{0}\"({1}); INSERT INTO \"{0}\" SELECT * FROM source_of_{0};{2}",
        relation.name, columns, indices);
    const int code = sqlite3_exec(database.get(), sql.c_str(), nullptr, nullptr, nullptr);
    if ((code & 0xFF) == SQLITE_NOMEM) return NoMemoryForDatabase();
    if (code != SQLITE_OK) {
      return tl::make_unexpected(
          ErrorOf(database.get(), code, sources, watch, Limits(), std::string_view()));
    }
  }
  sqlite3_int64 bytes = 0;
  const std::unique_ptr<unsigned char, decltype(&sqlite3_free)> image(
      sqlite3_serialize(database.get(), "main", &bytes, 0), &sqlite3_free);
  if (image == nullptr) return NoMemoryForDatabase();
  return std::string(reinterpret_cast<const char*>(image.get()), static_cast<std::size_t>(bytes));
}

}  // namespace jarvis::query
