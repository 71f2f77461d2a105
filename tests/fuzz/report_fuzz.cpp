// Reports that somebody else wrote: CSV tables and workbooks. The first byte says what the rest is:
// 'c' a table as CSV, 's' the rows of a sheet, 'b' the workbook's list of sheets, else an archive.
#include <cstddef>
#include <cstdint>
#include <string>

#include "analysis/join/compare_sheets.h"
#include "table/csv_reader.h"
#include "table/xlsx_reader.h"
#include "table/zip_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using jarvis::testing::OneSheet;
using jarvis::testing::ZipOf;

jarvis::Result<std::vector<jarvis::Table>> Parse(char kind, const std::string& text) {
  if (kind == 'c') {
    auto table = jarvis::ParseCsv("ops_summary", text);
    if (!table) return tl::make_unexpected(table.error());
    return std::vector<jarvis::Table>{std::move(*table)};
  }
  jarvis::testing::ZipParts parts = OneSheet(kind == 's' ? text : "");
  if (kind == 'b') parts["xl/workbook.xml"] = text;
  jarvis::Job job;
  jarvis::XlsxLimits limits;
  limits.cells_max = 100'000;
  limits.bytes_max = std::size_t{1} << 20;
  return jarvis::ParseXlsx(kind == 's' || kind == 'b' ? ZipOf(parts) : text, job, limits);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(data + 1, data + size);
  auto tables = Parse(static_cast<char>(data[0]), text);
  if (!tables) return 0;
  for (jarvis::Table& table : *tables)
    table.name = "ops_summary";
  const std::vector<jarvis::analysis::ReportTables> reports = {{"a", *tables}, {"b", *tables}};
  static_cast<void>(jarvis::analysis::CompareSheets(reports, {}, {}));
  return 0;
}
