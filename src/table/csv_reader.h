// CSV text as a table: what table writers of this field make, types told from the cells.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "table/table.h"

namespace jarvis {

inline constexpr std::size_t kCsvCellsMax = 5'000'000;

// Comma, quotes doubled inside quotes, \n or \r\n; the first line names the columns (a repeated
// name gets ".1", ".2"...). Empty and nan are absent. A column is of one type: integers if all its
// cells are and none is absent, else numbers, else True and False, else text. A line end alone is a
// table without columns. Errors, with the row: kBadValue for a quote that does not end or a row
// longer than the header, kTooLarge.
Result<Table> ParseCsv(const std::string& name, std::string_view text);

}  // namespace jarvis
