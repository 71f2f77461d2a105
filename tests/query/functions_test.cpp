// Our versions of SQLite's functions against SQLite's own, on many values of every type.
#include "query/functions.h"

#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <sqlite3.h>

namespace jarvis::query {
namespace {

struct CloseAny {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseAny>;
using Statement = std::unique_ptr<sqlite3_stmt, CloseAny>;

Database OpenEmpty() {
  sqlite3* opened = nullptr;
  REQUIRE(sqlite3_open(":memory:", &opened) == SQLITE_OK);
  return Database(opened);
}

Statement Prepare(const Database& database, const char* sql) {
  sqlite3_stmt* made = nullptr;
  REQUIRE(sqlite3_prepare_v2(database.get(), sql, -1, &made, nullptr) == SQLITE_OK);
  return Statement(made);
}

// A value of SQL: a type of SQLite and its bytes, a number as text.
struct Sample {
  int type = SQLITE_NULL;
  std::string bytes;

  bool operator==(const Sample&) const = default;
};

doctest::String toString(const Sample& sample) {
  std::string text = std::to_string(sample.type) + ":";
  for (const char c : sample.bytes)
    text += (static_cast<unsigned char>(c) < 0x80 && c >= ' ')
                ? std::string(1, c)
                : "\\" + std::to_string(static_cast<unsigned char>(c));
  return text.c_str();
}

class Samples {
 public:
  Sample Next() {
    const unsigned kind = Below(12);
    if (kind == 0) return {};
    if (kind == 1) return {SQLITE_INTEGER, std::to_string(static_cast<int>(Below(2000)) - 1000)};
    if (kind == 2) return {SQLITE_FLOAT, std::to_string(Below(1000)) + ".5"};
    return {kind <= 4 ? SQLITE_BLOB : SQLITE_TEXT, Bytes()};
  }

 private:
  unsigned Below(unsigned end) {
    return std::uniform_int_distribution<unsigned>(0, end - 1)(random_);
  }

  std::string Bytes() {
    using namespace std::string_literals;
    static const std::vector<std::string> kPieces = {
        "a",        "A",        "b",   "ab",    "%",      "_",          "*",    "?",    "[",
        "]",        "^",        "-",   "[a-c]", "[^a]",   "[]b]",       "\\",   " ",    "  ",
        "1",        "5.5",      "é",   "É",     "\u4e2d", "\U0001F600", "\x80", "\xC3", "\xBF",
        "\xF0\x9F", "\xC0\x80", "\0"s, "%%",    "**",     "\xFF\x80",   "aa"};
    // Few pieces in one text, so that texts are often within each other.
    const unsigned first = Below(2) == 0 ? Below(static_cast<unsigned>(kPieces.size())) : 0;
    std::string bytes;
    for (unsigned left = Below(9); left > 0; --left)
      bytes +=
          Below(2) == 0 ? kPieces[first] : kPieces[Below(static_cast<unsigned>(kPieces.size()))];
    return bytes;
  }

  std::mt19937 random_{20261125};
};

void Bind(const Statement& statement, int at, const Sample& sample) {
  const auto size = static_cast<int>(sample.bytes.size());
  switch (sample.type) {
    case SQLITE_INTEGER: sqlite3_bind_int64(statement.get(), at, std::stoll(sample.bytes)); return;
    case SQLITE_FLOAT: sqlite3_bind_double(statement.get(), at, std::stod(sample.bytes)); return;
    case SQLITE_TEXT:
      sqlite3_bind_text(statement.get(), at, sample.bytes.data(), size, SQLITE_TRANSIENT);
      return;
    case SQLITE_BLOB:
      sqlite3_bind_blob(statement.get(), at, sample.bytes.data(), size, SQLITE_TRANSIENT);
      return;
    default: sqlite3_bind_null(statement.get(), at);
  }
}

// The result, or the error as a type that no value has.
Sample AnswerOf(const Statement& statement, const std::array<Sample, 3>& arguments) {
  for (int i = 0; i < sqlite3_bind_parameter_count(statement.get()); ++i)
    Bind(statement, i + 1, arguments[static_cast<std::size_t>(i)]);
  Sample answer;
  if (sqlite3_step(statement.get()) == SQLITE_ROW) {
    answer.type = sqlite3_column_type(statement.get(), 0);
    const auto* bytes = static_cast<const char*>(
        answer.type == SQLITE_BLOB
            ? sqlite3_column_blob(statement.get(), 0)
            : static_cast<const void*>(sqlite3_column_text(statement.get(), 0)));
    if (bytes != nullptr)
      answer.bytes.assign(bytes,
                          static_cast<std::size_t>(sqlite3_column_bytes(statement.get(), 0)));
  } else {
    answer = {-1, sqlite3_errmsg(sqlite3_db_handle(statement.get()))};
  }
  sqlite3_reset(statement.get());
  return answer;
}

constexpr const char* kCalls[] = {"SELECT instr(?1,?2)",
                                  "SELECT replace(?1,?2,?3)",
                                  "SELECT trim(?1)",
                                  "SELECT trim(?1,?2)",
                                  "SELECT ltrim(?1)",
                                  "SELECT ltrim(?1,?2)",
                                  "SELECT rtrim(?1)",
                                  "SELECT rtrim(?1,?2)",
                                  "SELECT ?1 LIKE ?2",
                                  "SELECT like(?1,?2,?3)",
                                  "SELECT ?1 GLOB ?2",
                                  "SELECT ?1 NOT LIKE ?2 ESCAPE 'a'",
                                  "SELECT ?2 LIKE ?1 ESCAPE '\xC3\xA9'",
                                  "SELECT ?1 LIKE ?2 ESCAPE '_'",
                                  "SELECT ?1 LIKE ?2 ESCAPE '%'"};

}  // namespace

TEST_CASE("our functions give what SQLite's give") {
  const Job job;
  const Watch watch{&job, std::chrono::steady_clock::time_point::max()};
  const Database stock = OpenEmpty();
  const Database ours = OpenEmpty();
  REQUIRE(AddFunctions(ours.get(), &watch) == SQLITE_OK);
  for (const std::string sql : kCalls) {
    CAPTURE(sql);
    const Statement expected = Prepare(stock, sql.c_str());
    const Statement got = Prepare(ours, sql.c_str());
    Samples samples;
    std::size_t telling = 0;  // answers that are neither NULL nor 0 nor an error
    for (int i = 0; i < 20'000; ++i) {
      const std::array<Sample, 3> arguments = {samples.Next(), samples.Next(), samples.Next()};
      const Sample right = AnswerOf(expected, arguments);
      telling += static_cast<std::size_t>(right.type > 0 && right.type != SQLITE_NULL &&
                                          right.bytes != "0");
      if (AnswerOf(got, arguments) != right) {
        CAPTURE(arguments[0]);
        CAPTURE(arguments[1]);
        CAPTURE(arguments[2]);
        REQUIRE(AnswerOf(got, arguments) == right);
      }
    }
    CHECK(telling > 10);
  }
}

TEST_CASE("our functions stop when the question is over") {
  Job job;
  const Watch watch{&job, std::chrono::steady_clock::time_point::max()};
  const Database database = OpenEmpty();
  REQUIRE(AddFunctions(database.get(), &watch) == SQLITE_OK);
  job.Stop();
  const std::string many(400'000, 'a');
  const Sample text{SQLITE_TEXT, many + "b"};
  const Sample other{SQLITE_TEXT, "b" + many};
  for (const std::string sql : {"SELECT trim(?1,?2)", "SELECT replace(?1,'a','')",
                                "SELECT ?1 LIKE '%' || substr(?2,2,400) || 'c'",
                                "SELECT ?1 GLOB '*[' || substr(?2,2,400) || ']c'"}) {
    CAPTURE(sql);
    CHECK(AnswerOf(Prepare(database, sql.c_str()), {text, other, {}}) == Sample{-1, "interrupted"});
  }
  // What takes time in proportion to its arguments need not look.
  CHECK(AnswerOf(Prepare(database, "SELECT instr(?1,?2)"), {text, other, {}}) ==
        Sample{SQLITE_INTEGER, "0"});
}

TEST_CASE("the functions that are allowed are sorted, and those that tell too much are not there") {
  const auto allowed = AllowedFunctions();
  CHECK(std::is_sorted(allowed.begin(), allowed.end()));
  for (const std::string name : {"json_extract", "->>", "like", "count", "row_number"}) {
    CAPTURE(name);
    CHECK(IsAllowedFunction(name));
  }
  for (const std::string name : {"fts3_tokenizer", "load_extension", "json_patch", "sqlite_log",
                                 "match", "snippet", "subtype", "rtreecheck", "", "lik"}) {
    CAPTURE(name);
    CHECK(!IsAllowedFunction(name));
  }
}

}  // namespace jarvis::query
