#include "table/xlsx_reader.h"

#include <map>
#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <zip.h>

namespace jarvis {
namespace {

using Parts = std::map<std::string, std::string>;

std::string Zip(const Parts& parts) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(nullptr, 0, 0, &error);
  zip_t* archive = zip_open_from_source(source, ZIP_TRUNCATE, &error);
  REQUIRE(archive != nullptr);
  zip_source_keep(source);
  for (const auto& [name, text] : parts) {
    zip_source_t* part = zip_source_buffer(archive, text.data(), text.size(), 0);
    REQUIRE(zip_file_add(archive, name.c_str(), part, ZIP_FL_ENC_UTF_8) >= 0);
  }
  REQUIRE(zip_close(archive) == 0);
  zip_stat_t stat;
  REQUIRE(zip_source_stat(source, &stat) == 0);
  REQUIRE(zip_source_open(source) == 0);
  std::string bytes(stat.size, '\0');
  REQUIRE(zip_source_read(source, bytes.data(), bytes.size()) ==
          static_cast<zip_int64_t>(bytes.size()));
  zip_source_close(source);
  zip_source_free(source);
  return bytes;
}

constexpr const char* kBook =
    R"(<workbook xmlns:r="r"><sheets><sheet name="one" sheetId="1" r:id="rId1"/></sheets></workbook>)";
constexpr const char* kLinks =
    R"(<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>)";

Parts Book(const std::string& rows) {
  return {
      {"xl/workbook.xml", kBook},
      {"xl/_rels/workbook.xml.rels", kLinks},
      {"xl/worksheets/sheet1.xml", "<worksheet><sheetData>" + rows + "</sheetData></worksheet>"}};
}

Result<std::vector<Table>> Parse(const Parts& parts, const XlsxLimits& limits = {}) {
  Job job;
  return ParseXlsx(Zip(parts), job, limits);
}

TEST_CASE("cells of every kind") {
  Parts parts = Book(
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
  const std::string whole = Zip(Book("<row><c><v>1</v></c></row>"));
  CHECK_FALSE(ParseXlsx(std::string_view(whole).substr(0, whole.size() / 2), job));
  CHECK_FALSE(Parse({{"xl/other.xml", "<a/>"}}));
  CHECK_FALSE(Parse(Book("<row><c><v>1</v></c>")));
  CHECK_FALSE(Parse(Book("<row><c t=\"s\"><v>5</v></c></row>")));
  CHECK_FALSE(Parse(Book("<row><c><v>a</v></c></row>")));
  CHECK_FALSE(Parse(Book("<row><c r=\"XFE1\"><v>1</v></c></row>")));
  CHECK_FALSE(Parse(Book("<row><c><v>1</v></c></row><row><c/><c><v>1</v></c></row>")));
  Parts no_link = Book("");
  no_link["xl/_rels/workbook.xml.rels"] = "<Relationships/>";
  CHECK_FALSE(Parse(no_link));
  CHECK(Parse(Book(""))->front().columns.empty());

  // Small as a file, large as a table or as a text.
  std::string sparse;
  for (int row = 0; row < 1000; ++row)
    sparse += fmt::format("<row><c r=\"XFD{}\"><v>1</v></c></row>", row + 1);
  CHECK(Parse(Book(sparse)).error().code == ErrorCode::kTooLarge);
  XlsxLimits limits;
  limits.bytes_max = std::size_t{1} << 20;
  CHECK(Parse(Book(std::string(std::size_t{2} << 20, ' ')), limits).error().code ==
        ErrorCode::kTooLarge);
  limits.sheets_max = 0;
  CHECK(Parse(Book(""), limits).error().code == ErrorCode::kTooLarge);

  // Entities of a document's own are never expanded; elements may nest as deep as they like.
  Parts entities = Book("");
  entities["xl/workbook.xml"] =
      "<!DOCTYPE a [<!ENTITY b \"bbbbbbbb\"><!ENTITY c \"&b;&b;&b;&b;\">]>" + std::string(kBook);
  CHECK(Parse(entities));
  std::string deep;
  for (int level = 0; level < 200'000; ++level)
    deep += "<a>";
  for (int level = 0; level < 200'000; ++level)
    deep += "</a>";
  CHECK(Parse(Book(deep)));

  job.Stop();
  CHECK(ParseXlsx(whole, job).error().code == ErrorCode::kCancelled);
}

}  // namespace
}  // namespace jarvis
