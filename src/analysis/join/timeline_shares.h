// A gpu_timeline table read back, as those that compare ranks and runs need it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "table/table.h"

namespace jarvis::analysis {

struct TimelineShare {
  double ms = 0;
  double percent = 0;  // of the total time
};

// By type of time; rows without both numbers are left out.
std::map<std::string, TimelineShare> TimelineShares(const Table& gpu_timeline);

// The row's cell in the column of this name; absent: no such column.
Cell CellAt(const Table& table, const std::vector<Cell>& row, const std::string& column);

}  // namespace jarvis::analysis
