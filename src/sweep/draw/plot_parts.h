// Pieces of MakeSweepPlots: the plots beyond those of the variance.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sweep/draw/plot_grid.h"

namespace jarvis::sweep {

// Means over what falls on the same place of an axis; absent where nothing does.
class GridMean {
 public:
  explicit GridMean(std::size_t places) : sums_(places), counts_(places) {}
  void Add(std::size_t place, double value) {
    sums_[place] += value;
    ++counts_[place];
  }
  std::vector<std::optional<double>> Means() const;

 private:
  std::vector<double> sums_;
  std::vector<std::size_t> counts_;
};

// The grid as a line chart without values yet: a series a row.
output::LineChart GridLines(const PlotGrid& grid);

// Step time, computation, exposed communication: rows and columns as the grid.
output::ChartSheet ConfigHeatMaps(const SweepPlotData& data, const PlotGrid& grid);

// How much longer a launch takes than the median of those that ran clear of collectives, by the
// share of it that a collective covers; a line fitted for each configuration.
output::Chart OverlapScatter(const SweepPlotData& data, const PlotGrid& grid);

std::string BandwidthName(std::span<const PlotAxis> axes);
output::ChartSheet BandwidthLines(const SweepPlotData& data, const PlotGrid& grid);

output::ChartSheet RankTimeline(const SweepPlotData& data);
output::Chart Pareto(const SweepPlotData& data, const PlotGrid& grid);

}  // namespace jarvis::sweep
