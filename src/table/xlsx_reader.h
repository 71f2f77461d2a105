// Excel workbooks (.xlsx) as tables: one per sheet, as report writers make them: a header row, then
// rows of values. Formulas count by the value that was stored with them; formats do not count.
#pragma once

#include <string_view>
#include <vector>

#include "base/job.h"
#include "base/result.h"
#include "table/table.h"

namespace jarvis {

// What a workbook may hold; it comes compressed, so its file says little about its size.
struct XlsxLimits {
  std::size_t sheets_max = 1'000;
  std::size_t cells_max = 5'000'000;               // of all sheets, blank ones within rows too
  std::size_t bytes_max = std::size_t{256} << 20;  // of all parts read, decompressed
  // What a small file may become: so many bytes of parts and of texts, and so many cells, for each
  // byte of it, beyond what does no harm. Reports expand 5 to 30 times.
  std::size_t expansion_max = 200;
  std::size_t expansion_free = std::size_t{8} << 20;
  std::size_t cells_a_byte = 20;
  std::size_t cells_free = 500'000;
  // Of the texts of all cells: a workbook names a text once and uses it in any number of cells.
  std::size_t text_bytes_max = std::size_t{256} << 20;
  std::size_t nodes_max = 12'000'000;  // elements, attributes and texts of one part
};

// Does the text begin as a workbook, or any other zip archive, does?
bool LooksLikeXlsx(std::string_view start);

// The sheets in the workbook's order. Columns have one type each as those of ParseCsv have; errors
// of Excel (#N/A) and rows without any value are absent. Errors: kBadValue for what is no workbook
// or damaged, with the part; kTooLarge.
Result<std::vector<Table>> ParseXlsx(std::string_view bytes, Job& job,
                                     const XlsxLimits& limits = {});

}  // namespace jarvis
