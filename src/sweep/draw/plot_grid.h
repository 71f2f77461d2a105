// The grid of a sweep's configurations as plots need it: values of axes in natural order, names of
// rows and columns.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "sweep/draw/plots.h"

namespace jarvis::sweep {

// The last axis goes along x; what all others say is a line, a row or a chart.
class PlotGrid {
 public:
  explicit PlotGrid(const SweepPlotData& data);

  std::size_t axes() const { return values_.size(); }
  const std::vector<std::string>& values(std::size_t axis) const { return values_[axis]; }
  // Place of a configuration's value; absent: it has none on that axis, or does not exist.
  std::optional<std::size_t> Place(std::size_t config, std::size_t axis) const;

  std::vector<std::string> ColumnNames() const;                             // "28ch"
  const std::vector<std::string>& row_names() const { return row_names_; }  // "256 threads"
  std::optional<std::size_t> Column(std::size_t config) const;
  std::optional<std::size_t> Row(std::size_t config) const;

  // "256 threads, 28ch".
  std::string ConfigName(std::size_t config) const;
  // "256/28".
  std::string ConfigMark(std::size_t config) const;

 private:
  std::vector<std::string> RowKey(std::size_t config) const;

  const SweepPlotData& data_;
  std::vector<std::vector<std::string>> values_;  // of each axis
  std::vector<std::vector<std::string>> row_keys_;
  std::vector<std::string> row_names_;
};

}  // namespace jarvis::sweep
