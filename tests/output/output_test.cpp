#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <doctest/doctest.h>

#include "output/csv_writer.h"
#include "output/number_format.h"

namespace jarvis::output {
namespace {

TEST_CASE("cells in a CSV file") {
  Table table{"t", {"plain", "with,comma", "with \"quote\""}, {}};
  table.rows.push_back({std::string("a"), std::int64_t{-3}, 1.0});
  table.rows.push_back({Cell(), true, false});
  table.rows.push_back({std::string("a,b"), std::string("say \"x\""), std::string("two\nlines")});
  table.rows.push_back({std::nan(""), 1e-9, 0.1});
  table.rows.push_back(
      {std::string("('c10::Half', '')"), std::string("cr\rhere"), std::string("")});
  CHECK(ToCsv(table) ==
        "plain,\"with,comma\",\"with \"\"quote\"\"\"\n"
        "a,-3,1.0\n"
        ",True,False\n"
        "\"a,b\",\"say \"\"x\"\"\",\"two\nlines\"\n"
        ",1e-09,0.1\n"
        "\"('c10::Half', '')\",\"cr\rhere\",\n");
  CHECK(ToCsv(Table{"empty", {}, {}}) == "\n");
  CHECK(ToCsv(Table{"header", {"a", "b"}, {}}) == "a,b\n");
}

TEST_CASE("a table in pieces is the same file") {
  Table table{"t", {"number", "text"}, {}};
  for (std::int64_t i = 0; i < 20'000; ++i)
    table.rows.push_back({i, "a text, and a long one for its place " + std::to_string(i)});
  std::string joined;
  std::size_t pieces = 0;
  std::size_t longest = 0;
  WriteCsv(table, CsvFormulas::kQuoted, [&](std::string_view piece) {
    joined += piece;
    longest = std::max(longest, piece.size());
    ++pieces;
  });
  CHECK(pieces > 2);
  CHECK(longest < joined.size() / 2);
  CHECK(joined == ToCsv(table));
  CHECK(joined.ends_with(",\"a text, and a long one for its place 19999\"\n"));
}

TEST_CASE("texts that a spreadsheet would evaluate are quoted, numbers and signs are not") {
  Table table{"t", {"=name"}, {}};
  for (const char* text : {"=cmd|'/C calc'!A0", "@SUM(A1)", "\t=1", "+cmd", "-2+cmd"})
    table.rows.push_back({std::string(text)});
  for (const char* text : {"-1.5", "+3", "-", "a=b", "aten::mm"})
    table.rows.push_back({std::string(text)});
  table.rows.push_back({std::int64_t{-7}});
  CHECK(ToCsv(table) ==
        "'=name\n'=cmd|'/C calc'!A0\n'@SUM(A1)\n'\t=1\n'+cmd\n'-2+cmd\n-1.5\n+3\n-\na=b\naten::mm\n"
        "-7\n");
  CHECK(ToCsv(table, CsvFormulas::kAsIs).starts_with("=name\n=cmd"));
}

TEST_CASE("numbers in answers") {
  const auto check = [](double value, double rounded) { CHECK(Rounded(value) == rounded); };
  check(0, 0);
  check(1.23456, 1.235);
  check(-1.23456, -1.235);
  check(98765.43219, 98765.432);
  check(0.123456, 0.1235);
  check(0.000123456, 0.0001235);
  check(0.99999, 1.0);
  check(1e13 + 0.5, 1e13 + 0.5);
  CHECK(std::isnan(Rounded(std::nan(""))));
  CHECK(CellText(Cell()) == "–");
  CHECK(CellText(Cell(std::int64_t{12345678901})) == "12345678901");
  CHECK(CellText(Cell(1.23456)) == "1.235");
  CHECK(CellText(Cell(2.0)) == "2");
  CHECK(CellText(Cell(123456.7)) == "123456.7");
  CHECK(CellText(Cell(std::numeric_limits<double>::infinity())) == "–");
  CHECK(CellText(Cell(true)) == "yes");
  CHECK(CellText(Cell(std::string("text"))) == "text");
}

}  // namespace
}  // namespace jarvis::output
