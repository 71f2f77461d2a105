// Tables as one Excel workbook: a sheet a table, in order, with a frozen bold header, an automatic
// filter, column widths and number formats. For reading and sorting; the CSV files are the ones
// with every row and every character.
//
// The same tables give the same bytes: no clock is in the file. Text is always text, never a
// formula or a link. Absent and non-finite cells are empty.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "io/output_folder.h"
#include "table/table.h"

namespace jarvis::output {

// Excel's limits.
inline constexpr std::uint32_t kXlsxRowsMax = 1'048'576;  // header included
inline constexpr std::uint32_t kXlsxColumnsMax = 16'384;
inline constexpr std::size_t kXlsxTextMax = 32'767;  // UTF-16 units of a cell

struct XlsxFile {
  std::string path;                 // empty: not written
  std::vector<std::string> sheets;  // names, by table: cut, and told apart where equal
  std::uint64_t texts_cut = 0;      // cells; they end in " [cut]"
  std::uint64_t texts_mended = 0;   // cells with characters that XML cannot hold, now U+FFFD
  std::uint64_t rows_left_out = 0;  // beyond Excel's limit; the sheet's last row says so
  std::uint64_t columns_left_out = 0;
};

// Writes the workbook as a file of the folder that was claimed. No table makes a workbook with one
// empty sheet.
Result<XlsxFile> WriteXlsx(std::span<const Table> tables, io::OutputFolder& folder,
                           const std::string& name);

// The same in memory, for a caller that writes the bytes itself.
Result<XlsxFile> ToXlsx(std::span<const Table> tables, std::string* content);

// The sheet's name for a table: at most 31 UTF-16 units, without the characters that Excel forbids,
// other than all of `taken` whatever the case. Not empty.
std::string SheetName(const std::string& table, std::span<const std::string> taken);

}  // namespace jarvis::output
