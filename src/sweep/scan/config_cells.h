// The columns that say which configuration a row is of.
#pragma once

#include <string>
#include <vector>

#include "sweep/scan/scan.h"
#include "table/table.h"

namespace jarvis::sweep {

inline std::vector<std::string> AxisColumns(const Sweep& sweep) {
  return sweep.axes;
}

// Numbers as numbers.
inline std::vector<Cell> AxisCells(const Config& config) {
  std::vector<Cell> cells;
  for (const AxisValue& value : config.values) {
    if (value.number)
      cells.emplace_back(*value.number);
    else
      cells.push_back(value.text.empty() ? Cell() : Cell(value.text));
  }
  return cells;
}

// The part of a file's name that tells the configuration from those beside it: "28ch", else the
// last part of its path.
inline std::string BookTag(const Sweep& sweep, const Config& config) {
  if (sweep.threads_by_channels) return config.values[1].text + "ch";
  const std::string tag = config.folder.substr(config.folder.rfind('/') + 1);
  return tag.empty() ? "run" : tag;
}

}  // namespace jarvis::sweep
