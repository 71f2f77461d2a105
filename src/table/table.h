// A table: named columns, rows of cells. No domain in it; every table of the product is one of
// these before it becomes CSV, JSON or text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/absent.h"

namespace jarvis {

// What is absent is never written as 0.
using Cell = std::variant<Absent, std::int64_t, double, bool, std::string>;

inline Cell CellOf(std::optional<double> value) {
  return value ? Cell(*value) : Cell();
}

struct Table {
  std::string name;
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
  // A table without any column is a file with one line end.
};

}  // namespace jarvis
