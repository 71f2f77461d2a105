#include "table/csv_reader.h"

#include <doctest/doctest.h>

namespace jarvis {
namespace {

TEST_CASE("cells get the type of their column") {
  const auto table =
      ParseCsv("t", "a,b,c,d,e\n1,1,True,x,\n2,,False,\"y, \"\"z\"\"\",nan\r\n3,1e-3,,,\n");
  REQUIRE(table);
  CHECK(table->columns == std::vector<std::string>{"a", "b", "c", "d", "e"});
  REQUIRE(table->rows.size() == 3);
  CHECK(table->rows[0] == std::vector<Cell>{std::int64_t{1}, 1.0, true, std::string("x"), Cell()});
  CHECK(table->rows[1] ==
        std::vector<Cell>{std::int64_t{2}, Cell(), false, std::string("y, \"z\""), Cell()});
  CHECK(table->rows[2] == std::vector<Cell>{std::int64_t{3}, 1e-3, Cell(), Cell(), Cell()});
}

TEST_CASE("tables without rows, without columns, with equal names") {
  REQUIRE(ParseCsv("t", "\n"));
  CHECK(ParseCsv("t", "\n")->columns.empty());
  CHECK(ParseCsv("t", "")->columns.empty());
  const auto header = ParseCsv("t", "a,a,a\n");
  CHECK(header->columns == std::vector<std::string>{"a", "a.1", "a.2"});
  CHECK(header->rows.empty());
  // A short row is one with absent cells; line ends inside quotes are text.
  const auto table = ParseCsv("t",
                              "\xEF\xBB\xBF"
                              "a,b\n\"x\ny\"");
  REQUIRE(table->rows.size() == 1);
  CHECK(table->columns[0] == "a");
  CHECK(table->rows[0] == std::vector<Cell>{std::string("x\ny"), Cell()});
}

TEST_CASE("what is no table is refused, with the row") {
  CHECK(ParseCsv("t", "a,b\n1,2\n1,\"2\n").error().message ==
        "table t, row 3: a quote does not end");
  CHECK(ParseCsv("t", "a\n1,2\n").error().message ==
        "table t, row 2: more cells than the header has");
  // A line of one blank cell each: small as a file, large as a table.
  std::string wide(10'000, ',');
  std::string text = wide + "\n";
  for (int i = 0; i < 510; ++i)
    text += ",\n";
  CHECK(ParseCsv("t", text).error().code == ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace jarvis
