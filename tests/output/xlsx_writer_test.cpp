#include "output/xlsx_writer.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "table/xlsx_reader.h"

namespace jarvis::output {
namespace {

// Where the samples go that workbook_test.py and chart_test.py open with other programs.
std::string Folder() {
  if (const char* folder = std::getenv("JARVIS_SAMPLE_DIR")) return folder;
  return (std::filesystem::temp_directory_path() / "jarvis_xlsx_test").string();
}

std::string BytesOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// As a tool does that may overwrite what is there.
Result<XlsxFile> WriteBook(std::span<const Table> tables, const std::string& path) {
  const std::filesystem::path split(path);
  Job job;
  JV_ASSIGN(const auto folder,
            io::OutputFolder::Open(io::FilePolicy(), split.parent_path().string(), job));
  JV_TRY(folder->Claim({split.filename().string()}, true));
  return WriteXlsx(tables, *folder, split.filename().string());
}

std::vector<Table> SampleTables() {
  Table ops{"ops_summary", {"name", "count", "gpu_us", "percent (%)", "shape", "linked"}, {}};
  ops.rows.push_back({std::string("aten::mm"), std::int64_t{96}, 1234.5678901234567, 12.345678,
                      std::string("((4096, 8192), (8192, 4096))"), true});
  ops.rows.push_back({std::string("=1+1"), std::int64_t{9007199254740993}, 1e-9, 0.0,
                      std::string("  blanks  "), false});
  ops.rows.push_back({std::string("{=SUM(A1:A2)}"), std::int64_t{-3}, std::nan(""),
                      std::numeric_limits<double>::infinity(), Cell(), Cell()});
  ops.rows.push_back({std::string("bell\x07 <b>&amp;\r\nline \xFF _x0041_ https://a.example"),
                      Cell(), Cell(), Cell(), std::string(40000, 'x'), Cell()});
  ops.rows.push_back({std::string("+cmd|' /C calc'!A0"), Cell(), 1e300, 100.0,
                      std::string("\xF0\x9F\x98\x80 \xC3\xA4"), Cell()});
  return {ops, Table{"ops_summary", {"a"}, {}}, Table{"no columns", {}, {}},
          Table{"bad/name: [*?\\] and far too long for a sheet", {"a"}, {{std::string("x")}}}};
}

TEST_CASE("a workbook of several tables") {
  const std::string path = Folder() + "/sample.xlsx";
  const auto file = WriteBook(SampleTables(), path);
  REQUIRE(file.has_value());
  CHECK(file->path == path);
  CHECK(file->sheets == std::vector<std::string>{"ops_summary", "ops_summary~2", "no columns",
                                                 "bad_name_ _____ and far too lon"});
  CHECK(file->texts_cut == 1);
  CHECK(file->texts_mended == 1);
  CHECK(file->rows_left_out == 0);
  const std::string first = BytesOf(path);
  REQUIRE(WriteBook(SampleTables(), path).has_value());
  CHECK(BytesOf(path) == first);
  // Nothing is left beside it.
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(Folder()))
    files += entry.path().filename().string().starts_with("sample.xlsx") ? 1 : 0;
  CHECK(files == 1);
}

TEST_CASE("a workbook of many rows reads back as it was, number for number") {
  Table table{"many", {"name", "value", "count"}, {}};
  for (std::int64_t i = 0; i < 30'000; ++i)
    table.rows.push_back(
        {"op <" + std::to_string(i % 97) + "> & ", static_cast<double>(i) / 9.3, i});
  const std::vector<Table> tables = {table, {"last", {"a"}, {{true}}}};
  std::string bytes;
  const auto file = ToXlsx(tables, &bytes);
  REQUIRE(file.has_value());
  Job job;
  const auto read = ParseXlsx(bytes, job);
  REQUIRE(read.has_value());
  REQUIRE(read->size() == 2);
  const Table& back = (*read)[0];
  CHECK(back.columns == table.columns);
  REQUIRE(back.rows.size() == table.rows.size());
  CHECK(back.rows[29'999][0] == table.rows[29'999][0]);
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const auto* value = std::get_if<double>(&back.rows[r][1]);
    REQUIRE(value != nullptr);
    REQUIRE(*value == std::get<double>(table.rows[r][1]));
  }
}

TEST_CASE("a workbook that cannot be written") {
  const auto file = WriteBook(SampleTables(), "/proc/no_such_folder/a.xlsx");
  REQUIRE_FALSE(file.has_value());
  CHECK(file.error().code == ErrorCode::kIo);
  // A directory in the way: nothing is left behind.
  const std::string folder = Folder() + "/in_the_way.xlsx";
  std::filesystem::create_directories(folder + "/x");
  CHECK_FALSE(WriteBook({}, folder).has_value());
  std::filesystem::remove_all(folder);
  for (const auto& entry : std::filesystem::directory_iterator(Folder()))
    CHECK_FALSE(entry.path().string().ends_with(".tmp"));
}

std::size_t OpenDescriptors() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

TEST_CASE("a workbook that runs out of descriptors says so and keeps none") {
  const std::string path = Folder() + "/descriptors.xlsx";
  struct rlimit before {};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const int next = ::dup(0);
  ::close(next);
  int failures = 0;
  bool written = false;
  for (int more = 0; more < 40 && !written; ++more) {
    const std::size_t open = OpenDescriptors();
    struct rlimit few = before;
    few.rlim_cur = static_cast<rlim_t>(next + more);
    ::setrlimit(RLIMIT_NOFILE, &few);
    const auto file = WriteBook(SampleTables(), path);
    ::setrlimit(RLIMIT_NOFILE, &before);
    CAPTURE(more);
    CHECK(OpenDescriptors() == open);
    written = file.has_value();
    if (written) continue;
    ++failures;
    CHECK(file.error().message.find("Too many open files") != std::string::npos);
    CHECK(file.error().message.find("/proc/") == std::string::npos);
  }
  CHECK(written);
  CHECK(failures > 0);
}

TEST_CASE("a link in the way of a workbook, or of its temporary file, is not followed") {
  const std::string folder = Folder() + "/planted";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/outside") << "mine";
  const std::string path = folder + "/report.xlsx";
  std::filesystem::create_symlink("outside", path);
  // Whoever knows the process and how many workbooks there were knows no name that it will use.
  for (int n = 0; n < 200; ++n) {
    std::filesystem::create_symlink(
        "outside", path + "." + std::to_string(::getpid()) + "." + std::to_string(n) + ".tmp");
  }
  CHECK_FALSE(WriteBook(SampleTables(), path).has_value());
  CHECK(std::filesystem::is_symlink(path));
  std::filesystem::remove(path);
  REQUIRE(WriteBook(SampleTables(), path).has_value());
  CHECK(BytesOf(folder + "/outside") == "mine");
  CHECK(std::filesystem::is_regular_file(std::filesystem::symlink_status(path)));
  std::filesystem::remove_all(folder);
}

TEST_CASE("no tables") {
  CHECK(WriteBook({}, Folder() + "/empty.xlsx").has_value());
}

TEST_CASE("sheet names") {
  const auto name = [](const std::string& table, std::vector<std::string> taken = {}) {
    return SheetName(table, taken);
  };
  CHECK(name("") == "table");
  CHECK(name("History") == "History_");
  CHECK(name("'quoted'") == "_quoted_");
  CHECK(name("a/b\\c[d]e:f*g?h") == "a_b_c_d_e_f_g_h");
  CHECK(name("ops", {"OPS"}) == "ops~2");
  CHECK(name("ops", {"ops", "Ops~2"}) == "ops~3");
  CHECK(name(std::string(40, 'a')) == std::string(31, 'a'));
  CHECK(name(std::string(40, 'a'), {std::string(31, 'A')}) == std::string(29, 'a') + "~2");
  // 31 UTF-16 units, never half a character.
  CHECK(name(std::string(30, 'a') + "\xF0\x9F\x98\x80") == std::string(30, 'a'));
  CHECK(name("nul\x01") == "nul_");
}

}  // namespace
}  // namespace jarvis::output
