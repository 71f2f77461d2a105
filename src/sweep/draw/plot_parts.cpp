#include "sweep/draw/plot_parts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "output/chart_stats.h"

namespace jarvis::sweep {
namespace {

using output::Chart;
using output::ChartSheet;

constexpr double kClear = 0.01;  // of its time under a collective, at most, is a clear launch

ChartSheet SideBySide(std::string title, double width, double height) {
  ChartSheet sheet;
  sheet.title = std::move(title);
  sheet.width = width;
  sheet.height = height;
  return sheet;
}

// The median of the clear launches of each work.
std::map<std::size_t, double> ClearDurations(const std::vector<PlotGemm>& gemms) {
  std::map<std::size_t, std::vector<double>> clear;
  for (const PlotGemm& gemm : gemms) {
    if (gemm.overlap_share <= kClear && gemm.duration_us > 0) {
      clear[gemm.work].push_back(gemm.duration_us);
    }
  }
  std::map<std::size_t, double> medians;
  for (auto& [work, durations] : clear) {
    std::sort(durations.begin(), durations.end());
    medians[work] = output::Quantile(durations, 0.5);
  }
  return medians;
}

// Of less than that a message's time is latency, and its bandwidth next to nothing.
bool IsLarge(const PlotBandwidth& one) {
  constexpr double kLarge = 65536;
  return one.bytes >= kLarge;
}

// Of points by x, those that no other is below and left of.
std::vector<output::ScatterPoint> FrontOf(std::vector<output::ScatterPoint> points) {
  std::sort(points.begin(), points.end(),
            [](const auto& a, const auto& b) { return std::pair(a.x, a.y) < std::pair(b.x, b.y); });
  std::vector<output::ScatterPoint> front;
  for (const output::ScatterPoint& point : points) {
    if (front.empty() || point.y < front.back().y) front.push_back({point.x, point.y});
  }
  return front;
}

// "32 MiB".
std::string SizeText(double bytes) {
  constexpr double kStep = 1024;
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= kStep && unit + 1 < std::size(kUnits)) {
    bytes /= kStep;
    ++unit;
  }
  return output::ValueText(bytes) + " " + kUnits[unit];
}

std::vector<output::Limits> SpansOf(const IntervalSet<double>& set) {
  std::vector<output::Limits> spans;
  for (const Interval<double>& span : set)
    spans.push_back({span.start, span.end});
  return spans;
}

}  // namespace

std::vector<std::optional<double>> GridMean::Means() const {
  std::vector<std::optional<double>> means(sums_.size());
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    if (counts_[i] > 0) means[i] = sums_[i] / static_cast<double>(counts_[i]);
  }
  return means;
}

output::LineChart GridLines(const PlotGrid& grid) {
  output::LineChart lines;
  lines.x = grid.ColumnNames();
  for (const std::string& name : grid.row_names())
    lines.series.push_back({name, {}});
  return lines;
}

ChartSheet ConfigHeatMaps(const SweepPlotData& data, const PlotGrid& grid) {
  struct Quantity {
    const char* title;
    const char* of;
    std::optional<double> PlotConfig::*value;
  };
  static constexpr Quantity kQuantities[] = {
      {"Step Time", "of the slowest rank", &PlotConfig::step_ms},
      {"Computation Time", "mean over ranks", &PlotConfig::computation_ms},
      {"Exposed Communication Time", "mean over ranks", &PlotConfig::exposed_comm_ms},
  };
  ChartSheet sheet =
      SideBySide("Time by Configuration (ms)", 460,
                 std::max(300.0, 120 + 30 * static_cast<double>(grid.row_names().size())));
  for (const Quantity& quantity : kQuantities) {
    output::HeatMap map;
    map.columns = grid.ColumnNames();
    map.rows = grid.row_names();
    map.values.resize(map.columns.size() * map.rows.size());
    map.unit = "ms";
    for (std::size_t i = 0; i < data.configs.size(); ++i) {
      if (const auto row = grid.Row(i)) {
        map.values[*row * map.columns.size() + *grid.Column(i)] = data.configs[i].*quantity.value;
      }
    }
    Chart chart{.title = quantity.title, .subtitle = quantity.of, .body = std::move(map)};
    if (!data.axes.empty()) chart.x.title = data.axes.back().brief;
    sheet.charts.push_back(std::move(chart));
  }
  return sheet;
}

Chart OverlapScatter(const SweepPlotData& data, const PlotGrid& grid) {
  const std::map<std::size_t, double> clear = ClearDurations(data.gemms);
  std::vector<output::ScatterSeries> series(data.configs.size());
  std::size_t shown = 0;
  for (const PlotGemm& gemm : data.gemms) {
    const auto base = clear.find(gemm.work);
    if (base == clear.end() || gemm.config >= series.size()) continue;
    series[gemm.config].points.push_back(
        {.x = gemm.overlap_share * 100, .y = (gemm.duration_us / base->second - 1) * 100});
    ++shown;
  }
  output::ScatterPlot plot;
  for (std::size_t i = 0; i < series.size(); ++i) {
    if (series[i].points.empty()) continue;
    series[i].label = grid.ConfigName(i);
    series[i].fit = true;
    plot.series.push_back(std::move(series[i]));
  }
  Chart chart{.title = "GEMM Duration vs Overlap with Collectives",
              .x = {.title = "Share of the launch under a collective (%)"},
              .y = {.title = "Longer than clear (%)"},
              .body = std::move(plot)};
  if (shown > 0) {
    chart.subtitle = fmt::format(
        "{} of {} launches, against the median clear launch of the same kernel and shapes", shown,
        data.gemms.size());
  }
  return chart;
}

std::string BandwidthName(std::span<const PlotAxis> axes) {
  return axes.empty() ? "bus_bandwidth" : "bus_bandwidth_by_" + axes.back().name;
}

ChartSheet BandwidthLines(const SweepPlotData& data, const PlotGrid& grid) {
  const std::vector<std::string> columns = grid.ColumnNames();
  using Message = std::pair<std::string, double>;
  std::vector<std::map<Message, GridMean>> rows(grid.row_names().size());
  output::Extent all;
  const bool large = std::any_of(data.bandwidth.begin(), data.bandwidth.end(), IsLarge);
  std::size_t small = 0;
  for (const PlotBandwidth& one : data.bandwidth) {
    const auto row = grid.Row(one.config);
    if (!row || !std::isfinite(one.gbps)) continue;
    if (large && !IsLarge(one)) {
      ++small;
      continue;
    }
    rows[*row]
        .try_emplace({one.operation, one.bytes}, GridMean(columns.size()))
        .first->second.Add(*grid.Column(one.config), one.gbps);
    all.Hold(one.gbps);
  }
  ChartSheet sheet = SideBySide("Bus Bandwidth by Message", 640, 460);
  sheet.columns = 2;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    output::LineChart lines;
    lines.x = columns;
    for (const auto& [message, mean] : rows[row]) {
      lines.series.push_back(
          {fmt::format("{} {}", message.first, SizeText(message.second)), mean.Means()});
    }
    sheet.charts.push_back({.title = grid.row_names()[row],
                            .subtitle = small > 0 ? "messages of 64 KiB and more" : "",
                            .x = {.title = data.axes.back().count},
                            .y = {.title = "Bus Bandwidth (GB/s)", .limits = all.limits()},
                            .body = std::move(lines)});
  }
  return sheet;
}

ChartSheet RankTimeline(const SweepPlotData& data) {
  output::TimelineStrip strip;
  strip.kinds = {"computation", "communication", "both at once"};
  for (const PlotRankStep& rank : data.step) {
    const IntervalSet<double> compute = Union(rank.compute);
    const IntervalSet<double> comm = Union(rank.comm);
    const IntervalSet<double> both = Intersect(compute, comm);
    strip.rows.push_back({"Rank " + std::to_string(rank.rank),
                          {{"computation", 0, SpansOf(compute)},
                           {"communication", 1, SpansOf(comm)},
                           {"both", 2, SpansOf(both)}}});
  }
  ChartSheet sheet;
  sheet.width = 1120;
  sheet.height = 150 + 44 * static_cast<double>(std::max<std::size_t>(strip.rows.size(), 4));
  sheet.charts.push_back({.title = "One Step by Rank",
                          .subtitle = data.step_of,
                          .x = {.title = "Time from the step's start (us)"},
                          .body = std::move(strip)});
  return sheet;
}

Chart Pareto(const SweepPlotData& data, const PlotGrid& grid) {
  output::ScatterSeries others{.label = "configurations"};
  output::ScatterSeries best{.label = "Pareto set, step time counted too"};
  std::vector<output::ScatterPoint> all;
  for (std::size_t i = 0; i < data.configs.size(); ++i) {
    const PlotConfig& config = data.configs[i];
    if (!config.exposed_comm_ms || !config.gemm_slowdown_pct) continue;
    all.push_back({*config.exposed_comm_ms, *config.gemm_slowdown_pct, grid.ConfigMark(i)});
    (config.pareto ? best : others).points.push_back(all.back());
  }
  output::ScatterSeries front{.label = "best of these two", .points = FrontOf(std::move(all))};
  front.joined = true;
  front.marked = false;
  output::ScatterPlot plot;
  plot.series = {std::move(others), std::move(best), std::move(front)};
  return {.title = "Exposed Communication vs GEMM Slowdown",
          .subtitle = "Lower left is better",
          .x = {.title = "Exposed communication (ms, mean over ranks)"},
          .y = {.title = "GEMM slowdown under collectives (%)"},
          .body = std::move(plot)};
}

}  // namespace jarvis::sweep
