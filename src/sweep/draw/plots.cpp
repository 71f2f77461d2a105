#include "sweep/draw/plots.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/ranges.h>

#include "sweep/draw/plot_grid.h"
#include "sweep/draw/plot_parts.h"

namespace jarvis::sweep {
namespace {

using output::Chart;
using output::ChartGroup;
using output::ChartSheet;

constexpr const char* kSpread = "Time Difference (us)";

// "threads" is "thread" in the name of a plot of several.
std::string Singular(const std::string& name) {
  return name.size() > 1 && name.ends_with('s') ? name.substr(0, name.size() - 1) : name;
}

std::string InteractionName(std::span<const PlotAxis> axes) {
  std::vector<std::string> names;
  for (const PlotAxis& axis : axes)
    names.push_back(Singular(axis.name));
  return fmt::format("variance_{}_interaction", fmt::join(names, "_"));
}

std::vector<ChartGroup> ByAxis(const SweepPlotData& data, const PlotGrid& grid, std::size_t axis,
                               const std::string& unit) {
  std::vector<ChartGroup> groups;
  for (const std::string& value : grid.values(axis))
    groups.push_back({value + unit, {}});
  for (const PlotVariance& one : data.variance) {
    if (const auto place = grid.Place(one.config, axis)) {
      groups[*place].values.push_back(one.time_diff_us);
    }
  }
  return groups;
}

std::vector<ChartGroup> ByRank(const SweepPlotData& data, const std::string& before) {
  std::map<std::int64_t, std::vector<double>> ranks;
  for (const PlotVariance& one : data.variance)
    ranks[one.rank].push_back(one.time_diff_us);
  std::vector<ChartGroup> groups;
  for (auto& [rank, values] : ranks)
    groups.push_back({before + std::to_string(rank), std::move(values)});
  return groups;
}

ChartSheet Alone(Chart chart, double width, double height) {
  ChartSheet sheet;
  sheet.charts.push_back(std::move(chart));
  sheet.width = width;
  sheet.height = height;
  return sheet;
}

Chart Boxes(std::string title, std::string x, std::vector<ChartGroup> groups) {
  return {.title = std::move(title),
          .subtitle = "line: median, dashes: mean, whiskers: 1.5 interquartile ranges",
          .x = {.title = std::move(x)},
          .y = {.title = kSpread},
          .body = output::BoxPlot{std::move(groups)}};
}

Chart Violins(std::string title, std::string x, std::vector<ChartGroup> groups) {
  return {.title = std::move(title),
          .subtitle = "line: median, dashes: mean",
          .x = {.title = std::move(x)},
          .y = {.title = kSpread},
          .body = output::ViolinPlot{std::move(groups)}};
}

ChartSheet AllViolins(const SweepPlotData& data, const PlotGrid& grid) {
  ChartSheet sheet;
  sheet.title = "GEMM Kernel Time Variance Distribution";
  sheet.width = 533;
  for (std::size_t axis = 0; axis < data.axes.size(); ++axis) {
    sheet.charts.push_back(Violins("By " + data.axes[axis].count, data.axes[axis].brief,
                                   ByAxis(data, grid, axis, data.axes[axis].mark)));
  }
  sheet.charts.push_back(Violins("By Rank", "Ranks", ByRank(data, "R")));
  return sheet;
}

// The mean of each configuration: a line per row of the grid.
Chart Interaction(const SweepPlotData& data, const PlotGrid& grid) {
  std::vector<std::string> nouns;
  for (const PlotAxis& axis : data.axes)
    nouns.push_back(axis.noun);
  output::LineChart lines = GridLines(grid);
  std::vector<GridMean> means(lines.series.size(), GridMean(lines.x.size()));
  for (const PlotVariance& one : data.variance) {
    if (const auto row = grid.Row(one.config))
      means[*row].Add(*grid.Column(one.config), one.time_diff_us);
  }
  for (std::size_t row = 0; row < means.size(); ++row)
    lines.series[row].y = means[row].Means();
  return {.title = fmt::format("{} Interaction: Mean Variance", fmt::join(nouns, "-")),
          .x = {.title = data.axes.empty() ? "" : data.axes.back().count},
          .y = {.title = "Mean Time Difference (us)"},
          .body = std::move(lines)};
}

}  // namespace

PlotAxis PlotAxisNamed(std::string_view name) {
  if (name == "threads") {
    return {"threads",  "Thread", "Thread Count", "Thread Configuration", "Threads",
            " threads", "t"};
  }
  if (name == "channels") {
    return {"channels", "Channel", "Channel Count", "Channel Configuration", "Channels",
            "ch",       "ch"};
  }
  const std::string own(name);
  return {own, own, own, own, own, "", ""};
}

std::vector<SweepPlot> MakeSweepPlots(const SweepPlotData& data) {
  const PlotGrid grid(data);
  std::vector<SweepPlot> plots;
  // Wider with more groups, as people know the three of them.
  double width = 800;
  for (std::size_t axis = 0; axis < data.axes.size(); ++axis) {
    const PlotAxis& known = data.axes[axis];
    plots.push_back({fmt::format("variance_by_{}_boxplot", known.name),
                     Alone(Boxes("GEMM Kernel Time Variance by " + known.count, known.title,
                                 ByAxis(data, grid, axis, known.unit)),
                           width, 480)});
    width = 960;
  }
  plots.push_back({"variance_by_ranks_boxplot",
                   Alone(Boxes("GEMM Kernel Time Variance by Rank", "Rank", ByRank(data, "Rank ")),
                         1120, 480)});
  plots.push_back({"variance_violin_combined", AllViolins(data, grid)});
  plots.push_back({InteractionName(data.axes), Alone(Interaction(data, grid), 960, 560)});
  plots.push_back({"config_heatmap", ConfigHeatMaps(data, grid)});
  plots.push_back({"gemm_duration_vs_overlap", Alone(OverlapScatter(data, grid), 960, 560)});
  plots.push_back({BandwidthName(data.axes), BandwidthLines(data, grid)});
  plots.push_back({"rank_timeline", RankTimeline(data)});
  plots.push_back({"pareto_exposed_comm_vs_gemm_slowdown", Alone(Pareto(data, grid), 800, 520)});
  return plots;
}

std::vector<std::string> SweepPlotNames(std::span<const PlotAxis> axes) {
  SweepPlotData nothing;
  nothing.axes.assign(axes.begin(), axes.end());
  std::vector<std::string> names;
  for (const SweepPlot& plot : MakeSweepPlots(nothing))
    names.push_back(plot.name);
  return names;
}

}  // namespace jarvis::sweep
