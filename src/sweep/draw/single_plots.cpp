#include "sweep/draw/single_plots.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sweep/draw/single_parts.h"

namespace jarvis::sweep {
namespace {

using output::Chart;
using output::ChartSheet;
using Value = std::optional<double>;

ChartSheet Sheet(std::string title, std::vector<Chart> charts, double width, double height,
                 std::size_t columns = 0) {
  ChartSheet sheet;
  sheet.title = std::move(title);
  sheet.charts = std::move(charts);
  sheet.columns = columns;
  sheet.width = width;
  sheet.height = height;
  return sheet;
}

double HeightFor(std::size_t rows) {
  return std::max(260.0, 120 + 30 * static_cast<double>(rows));
}

// A chart for each run but the first, of what changed against the first.
template <typename Make>
std::vector<Chart> AgainstFirst(std::span<const SingleRun> runs, Make&& make) {
  std::vector<Chart> charts;
  for (std::size_t i = 1; i < runs.size(); ++i) {
    Chart chart = make(runs[i]);
    chart.title = fmt::format("{} against {}", runs[i].label, runs.front().label);
    charts.push_back(std::move(chart));
  }
  return charts;
}

SweepPlot Improvement(std::span<const SingleRun> runs, const SingleNames& names) {
  return {"improvement_chart",
          Sheet("Change of GPU Time by Type (%)",
                AgainstFirst(runs,
                             [&](const SingleRun& run) {
                               output::BarChart bars;
                               bars.groups = names.types;
                               bars.horizontal = true;
                               bars.by_sign = true;
                               bars.series.resize(1);
                               for (const std::string& type : names.types) {
                                 bars.series[0].y.push_back(ChangePercent(
                                     MeanTime(runs.front(), type), MeanTime(run, type)));
                               }
                               return Chart{.y = {.title = "Change (%), less is better"},
                                            .body = std::move(bars)};
                             }),
                640, HeightFor(names.types.size()), 2)};
}

SweepPlot Absolute(std::span<const SingleRun> runs, const SingleNames& names) {
  output::BarChart bars;
  bars.groups = names.types;
  for (const SingleRun& run : runs) {
    output::ChartSeries series{run.label, {}};
    for (const std::string& type : names.types)
      series.y.push_back(MeanTime(run, type));
    bars.series.push_back(std::move(series));
  }
  return {"abs_time_comparison", Sheet({},
                                       {{.title = "GPU Time by Type",
                                         .subtitle = "mean over ranks",
                                         .y = {.title = "Time (ms)"},
                                         .body = std::move(bars)}},
                                       1120, 480)};
}

SweepPlot Heat(std::span<const SingleRun> runs, const SingleNames& names) {
  return {"gpu_time_heatmap",
          Sheet("Change of GPU Time by Rank (%)",
                AgainstFirst(runs,
                             [&](const SingleRun& run) {
                               output::HeatMap map;
                               map.rows = names.types;
                               map.columns = names.RankNames();
                               map.diverging = true;
                               map.unit = "change, %";
                               for (const std::string& type : names.types) {
                                 for (const std::int64_t rank : names.ranks) {
                                   map.values.push_back(ChangePercent(
                                       TimeOf(runs.front(), type, rank), TimeOf(run, type, rank)));
                                 }
                               }
                               return Chart{.x = {.title = "Rank"}, .body = std::move(map)};
                             }),
                760, HeightFor(names.types.size()), 2)};
}

SweepPlot ByRank(std::span<const SingleRun> runs, const SingleNames& names,
                 const std::string& type) {
  output::LineChart lines;
  lines.x = names.RankNames();
  for (const SingleRun& run : runs) {
    output::ChartSeries series{run.label, {}};
    for (const std::int64_t rank : names.ranks)
      series.y.push_back(TimeOf(run, type, rank));
    lines.series.push_back(std::move(series));
  }
  return {PlotFileName(type) + "_by_rank", Sheet({},
                                                 {{.title = type + " by Rank",
                                                   .x = {.title = "Rank"},
                                                   .y = {.title = "Time (ms)"},
                                                   .body = std::move(lines)}},
                                                 800, 420)};
}

SweepPlot ChangeByRank(std::span<const SingleRun> runs, const SingleNames& names) {
  std::vector<Chart> charts;
  for (const std::string& type : names.types) {
    output::BarChart bars;
    bars.groups = names.RankNames();
    for (std::size_t i = 1; i < runs.size(); ++i) {
      output::ChartSeries series{runs.size() > 2 ? runs[i].label : "", {}};
      for (const std::int64_t rank : names.ranks) {
        series.y.push_back(
            ChangePercent(TimeOf(runs.front(), type, rank), TimeOf(runs[i], type, rank)));
      }
      bars.series.push_back(std::move(series));
    }
    bars.by_sign = runs.size() == 2;
    bars.colours_from = 1;  // the baseline's
    charts.push_back({.title = type,
                      .x = {.title = "Rank"},
                      .y = {.title = "Change (%)"},
                      .body = std::move(bars)});
  }
  return {"gpu_time_change_percentage_summary_by_rank",
          Sheet("Change of GPU Time by Rank and Type (%)", std::move(charts), 400, 300, 4)};
}

struct CollectivePlot {
  const char* name;
  const char* title;
  const char* axis;
  Value SingleCollective::*value;
  bool lower_is_better;
};
constexpr CollectivePlot kCollectivePlots[] = {
    {"NCCL_Communication_Latency_comparison", "NCCL Communication Latency", "Latency (us, mean)",
     &SingleCollective::latency_us, true},
    {"NCCL_Algorithm_Bandwidth_comparison", "NCCL Algorithm Bandwidth", "Bandwidth (GB/s)",
     &SingleCollective::algo_gbps, false},
    {"NCCL_Bus_Bandwidth_comparison", "NCCL Bus Bandwidth", "Bandwidth (GB/s)",
     &SingleCollective::bus_gbps, false},
    {"NCCL_Total_Communication_Latency_comparison", "NCCL Total Communication Latency",
     "Latency (ms, total)", &SingleCollective::total_ms, true},
};

SweepPlot CollectiveBars(std::span<const SingleRun> runs, const SingleNames& names,
                         const CollectivePlot& plot) {
  output::BarChart bars;
  bars.groups = names.CollectiveNames();
  for (const SingleRun& run : runs) {
    output::ChartSeries series{run.label, {}};
    for (const auto& key : names.collectives)
      series.y.push_back(CollectiveValue(run, key, plot.value));
    bars.series.push_back(std::move(series));
  }
  return {plot.name, Sheet({},
                           {{.title = plot.title,
                             .x = {.title = "Collective and elements of a message"},
                             .y = {.title = plot.axis},
                             .body = std::move(bars)}},
                           1120, 480)};
}

SweepPlot CollectiveChange(std::span<const SingleRun> runs, const SingleNames& names) {
  std::vector<Chart> charts;
  for (std::size_t i = 1; i < runs.size(); ++i) {
    for (const CollectivePlot& plot : kCollectivePlots) {
      if (plot.value == &SingleCollective::total_ms) continue;
      output::BarChart bars;
      bars.groups = names.CollectiveNames();
      bars.by_sign = true;
      bars.lower_is_better = plot.lower_is_better;
      bars.series.resize(1);
      for (const auto& key : names.collectives) {
        bars.series[0].y.push_back(ChangePercent(CollectiveValue(runs.front(), key, plot.value),
                                                 CollectiveValue(runs[i], key, plot.value)));
      }
      charts.push_back({.title = plot.title,
                        .subtitle = fmt::format("{} against {}", runs[i].label, runs[0].label),
                        .y = {.title = "Change (%)"},
                        .body = std::move(bars)});
    }
  }
  return {"NCCL_Performance_Percentage_Change_comparison",
          Sheet("Change of Collectives (%)", std::move(charts), 520, 420, 3)};
}

}  // namespace

std::vector<SweepPlot> MakeSinglePlots(std::span<const SingleRun> runs) {
  if (runs.empty()) return {};
  const SingleNames names(runs);
  std::vector<SweepPlot> plots = {Improvement(runs, names), Absolute(runs, names),
                                  Heat(runs, names)};
  for (const std::string& type : names.types)
    plots.push_back(ByRank(runs, names, type));
  plots.push_back(ChangeByRank(runs, names));
  for (const CollectivePlot& plot : kCollectivePlots)
    plots.push_back(CollectiveBars(runs, names, plot));
  plots.push_back(CollectiveChange(runs, names));
  return plots;
}

}  // namespace jarvis::sweep
