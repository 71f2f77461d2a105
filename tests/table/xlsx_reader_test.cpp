#include "table/xlsx_reader.h"

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "table/zip_text.h"

namespace jarvis {
namespace {

using testing::OneSheet;
using testing::ZipOf;
using testing::ZipParts;

Result<std::vector<Table>> Parse(const ZipParts& parts, const XlsxLimits& limits = {}) {
  Job job;
  return ParseXlsx(ZipOf(parts), job, limits);
}

TEST_CASE("cells of every kind") {
  ZipParts parts = OneSheet(
      R"(<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>b</t></is></c>)"
      R"(<c r="C1" t="str"><v>c</v></c><c r="D1" t="inlineStr"><is><t>b</t></is></c>)"
      R"(<c r="E1" t="inlineStr"><is><t>e</t></is></c></row>)"
      R"(<row r="2"><c r="A2"><v>1</v></c><c r="B2"><v>2</v></c><c r="C2" t="b"><v>1</v></c>)"
      R"(<c r="E2" t="s"><v>1</v></c></row>)"
      R"(<row r="3"/>)"
      R"(<row r="9"><c r="A9"><v>3</v></c><c r="B9"><v>2.5E-1</v></c><c r="D9" t="e"><v>#N/A</v></c></row>)");
  parts["xl/sharedStrings.xml"] =
      "<sst><si><t>a</t></si><si><r><t>x_x000A_</t></r><r><t>&lt;y&gt;</t></r></si></sst>";
  const auto tables = Parse(parts);
  REQUIRE_MESSAGE(tables, (tables ? "" : tables.error().message));
  REQUIRE(tables->size() == 1);
  const Table& table = tables->front();
  CHECK(table.name == "one");
  CHECK(table.columns == std::vector<std::string>{"a", "b", "c", "b.1", "e"});
  REQUIRE(table.rows.size() == 2);
  // Whole numbers stay whole where the column has no other.
  CHECK(table.rows[0] ==
        std::vector<Cell>{std::int64_t{1}, 2.0, true, Cell(), std::string("x\n<y>")});
  CHECK(table.rows[1] == std::vector<Cell>{std::int64_t{3}, 0.25, Cell(), Cell(), Cell()});
}

TEST_CASE("names with a namespace's prefix, and links from the root") {
  const auto tables = Parse(
      {{"xl/workbook.xml",
        R"(<x:workbook xmlns:x="x" xmlns:r="r"><x:sheets><x:sheet name="s" r:id="a"/></x:sheets></x:workbook>)"},
       {"xl/_rels/workbook.xml.rels",
        R"(<Relationships><Relationship Id="a" Target="/xl/worksheets/other.xml"/></Relationships>)"},
       {"xl/worksheets/other.xml",
        R"(<x:worksheet xmlns:x="x"><x:sheetData><x:row><x:c><x:v>7</x:v></x:c></x:row></x:sheetData></x:worksheet>)"}});
  REQUIRE(tables);
  CHECK(tables->front().columns == std::vector<std::string>{"7"});
}

TEST_CASE("what is no workbook, or more than one may be") {
  Job job;
  CHECK(ParseXlsx("PK\x03\x04 and then nothing", job).error().code == ErrorCode::kBadValue);
  const std::string whole = ZipOf(OneSheet("<row><c><v>1</v></c></row>"));
  CHECK_FALSE(ParseXlsx(std::string_view(whole).substr(0, whole.size() / 2), job));
  CHECK_FALSE(Parse({{"xl/other.xml", "<a/>"}}));
  CHECK_FALSE(Parse(OneSheet("<row><c><v>1</v></c>")));
  CHECK_FALSE(Parse(OneSheet("<row><c t=\"s\"><v>5</v></c></row>")));
  CHECK_FALSE(Parse(OneSheet("<row><c><v>a</v></c></row>")));
  CHECK_FALSE(Parse(OneSheet("<row><c r=\"XFE1\"><v>1</v></c></row>")));
  CHECK_FALSE(Parse(OneSheet("<row><c><v>1</v></c></row><row><c/><c><v>1</v></c></row>")));
  ZipParts no_link = OneSheet("");
  no_link["xl/_rels/workbook.xml.rels"] = "<Relationships/>";
  CHECK_FALSE(Parse(no_link));
  CHECK(Parse(OneSheet(""))->front().columns.empty());

  // Small as a file, large as a table or as a text.
  std::string sparse;
  for (int row = 0; row < 1000; ++row)
    sparse += fmt::format("<row><c r=\"XFD{}\"><v>1</v></c></row>", row + 1);
  CHECK(Parse(OneSheet(sparse)).error().code == ErrorCode::kTooLarge);
  XlsxLimits limits;
  limits.bytes_max = std::size_t{1} << 20;
  CHECK(Parse(OneSheet(std::string(std::size_t{2} << 20, ' ')), limits).error().code ==
        ErrorCode::kTooLarge);
  limits.sheets_max = 0;
  CHECK(Parse(OneSheet(""), limits).error().code == ErrorCode::kTooLarge);

  // Entities of a document's own are never expanded; elements may nest as deep as they like.
  ZipParts entities = OneSheet("");
  entities["xl/workbook.xml"] =
      "<!DOCTYPE a [<!ENTITY b \"bbbbbbbb\"><!ENTITY c \"&b;&b;&b;&b;\">]>" +
      entities["xl/workbook.xml"];
  CHECK(Parse(entities));
  std::string deep;
  for (int level = 0; level < 200'000; ++level)
    deep += "<a>";
  for (int level = 0; level < 200'000; ++level)
    deep += "</a>";
  CHECK(Parse(OneSheet(deep)));

  job.Stop();
  CHECK(ParseXlsx(whole, job).error().code == ErrorCode::kCancelled);
}

TEST_CASE("a small file does not become much") {
  const auto error = [](const ZipParts& parts) {
    const std::string file = ZipOf(parts);
    REQUIRE(file.size() < 20'000);
    Job job;
    const auto tables = ParseXlsx(file, job);
    REQUIRE_FALSE(tables);
    CHECK(tables.error().message.find("larger than a report may be") != std::string::npos);
    return tables.error().code;
  };
  // Texts that nobody uses, a sheet of blanks, rows whose only cell is the last one, a text in many
  // cells.
  ZipParts parts = OneSheet("");
  parts["xl/sharedStrings.xml"] = "<sst><si><t>" + std::string(9 << 20, 'a') + "</t></si></sst>";
  CHECK(error(parts) == ErrorCode::kTooLarge);
  CHECK(error(OneSheet(std::string(9 << 20, ' '))) == ErrorCode::kTooLarge);
  std::string rows;
  for (int row = 0; row < 60; ++row)
    rows += "<row><c r=\"XFD1\"><v>1</v></c></row>";
  CHECK(error(OneSheet(rows)) == ErrorCode::kTooLarge);
  rows.clear();
  for (int row = 0; row < 100; ++row)
    rows += "<row><c t=\"s\"><v>0</v></c></row>";
  parts = OneSheet(rows);
  parts["xl/sharedStrings.xml"] = "<sst><si><t>" + std::string(200'000, 'a') + "</t></si></sst>";
  CHECK(error(parts) == ErrorCode::kTooLarge);
  // A table of many equal rows is one.
  rows.clear();
  for (int row = 0; row < 20'000; ++row)
    rows += "<row><c><v>1</v></c><c t=\"inlineStr\"><is><t>name</t></is></c></row>";
  CHECK(Parse(OneSheet(rows)));
}

TEST_CASE("one text in many cells, and elements within elements, are within limits") {
  XlsxLimits limits;
  limits.text_bytes_max = 1'000'000;
  const auto cells = [](int count) {
    std::string rows;
    for (int i = 0; i < count; ++i)
      rows += "<row><c t=\"s\"><v>0</v></c></row>";
    ZipParts parts = OneSheet(rows);
    parts["xl/sharedStrings.xml"] = "<sst><si><t>" + std::string(1000, 'x') + "</t></si></sst>";
    return parts;
  };
  CHECK(Parse(cells(1000), limits).has_value());
  CHECK(Parse(cells(1001), limits).error().code == ErrorCode::kTooLarge);
  std::string nested;
  for (int i = 0; i < 1000; ++i)
    nested += "<a x='' y=''>";
  for (int i = 0; i < 1000; ++i)
    nested += "</a>";
  CHECK(Parse(OneSheet("<row><c><v>1</v></c></row>" + nested), limits).has_value());
  limits.nodes_max = 2000;
  CHECK(Parse(OneSheet("<row><c><v>1</v></c></row>" + nested), limits).error().code ==
        ErrorCode::kTooLarge);
}

}  // namespace
}  // namespace jarvis
