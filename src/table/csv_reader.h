// CSV text as a table: what table writers of this field make, types told from the cells.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "table/table.h"

namespace jarvis {

// Comma, quotes doubled inside quotes, \n or \r\n; the first line names the columns (a repeated
// name gets ".1", ".2"...). Empty, nan and None are absent. A column is of one type: integers if
// all its cells are and none is absent, else numbers, else True and False, else text. A line end
// alone is a table without columns. Absent: a quote that does not end, or a row that is longer than
// the header; `problem`, if given, says which.
std::optional<Table> ParseCsv(const std::string& name, std::string_view text,
                              std::string* problem = nullptr);

}  // namespace jarvis
