// One sheet of a workbook, as the part of its file.
#pragma once

#include <string>
#include <string_view>

#include "io/zip_part.h"
#include "output/xlsx_writer.h"
#include "table/table.h"

namespace jarvis::output {

// What its cells look like; the workbook lists these in this order.
enum class CellStyle : unsigned char { kNone, kHeader, kInteger, kNumber, kTiny, kPercent };

// The columns and rows that have an automatic filter, "$A$1:$F$6"; empty: the table has no columns.
std::string FilterRange(const Table& table);

// The part `name`. What had to be left out or mended is added to `file`. `first`: the one that is
// open when the workbook is opened.
io::ZipPart MakeSheet(const Table& table, std::string name, bool first, XlsxFile* file);

}  // namespace jarvis::output
