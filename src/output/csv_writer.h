// Tables as CSV: UTF-8, \n, comma, quotes only where needed, header row, full precision.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "table/table.h"

namespace jarvis::output {

// What a spreadsheet does with a text cell that looks like a formula.
enum class CsvFormulas {
  kQuoted,  // such a text is given an apostrophe in front, so that it stays a text
  kAsIs,    // for programs alone, and for tables that are another program's byte for byte
};
std::string ToCsv(const Table& table, CsvFormulas formulas = CsvFormulas::kQuoted);
// The same in pieces of many rows, each handed to `add`.
void WriteCsv(const Table& table, CsvFormulas formulas,
              const std::function<void(std::string_view piece)>& add);
// Appends the rows alone, for a table that comes in pieces.
void AppendCsvRows(const Table& table, CsvFormulas formulas, std::string* out);

}  // namespace jarvis::output
