// Tables as text, for comparison with what a test expects.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "table/table.h"

namespace jarvis::testing {

// Six decimals at most; "-" for an empty cell.
inline std::string CellText(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* flag = std::get_if<bool>(&cell)) return *flag ? "True" : "False";
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return std::to_string(*number);
  if (const auto* real = std::get_if<double>(&cell)) {
    std::string digits = std::to_string(*real);
    digits.erase(digits.find_last_not_of('0') + 1);
    if (digits.back() == '.') digits.pop_back();
    return digits;
  }
  return "-";
}

inline bool HasColumn(const Table& table, const std::string& column) {
  return std::find(table.columns.begin(), table.columns.end(), column) != table.columns.end();
}

// The named columns, a line per row.
inline std::string Rows(const Table& table, const std::vector<std::string>& columns) {
  std::string text;
  for (const auto& row : table.rows) {
    CHECK(row.size() == table.columns.size());
    std::string line;
    for (const std::string& column : columns) {
      const auto at = std::find(table.columns.begin(), table.columns.end(), column);
      REQUIRE_MESSAGE(at != table.columns.end(), column);
      line += (line.empty() ? "" : " | ") +
              CellText(row[static_cast<std::size_t>(at - table.columns.begin())]);
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace jarvis::testing
