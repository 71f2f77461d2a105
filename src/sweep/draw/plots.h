// The pictures of a sweep, from plain facts: how far the durations of GEMM kernels spread, by each
// axis, by rank and together; what a configuration costs; what overlap does to GEMMs. Axes are the
// sweep's own (threads and channels, or any others), values are shown in natural order.
//
// File names, titles and axes of the plots of variance are those of the users' script
// plot_gemm_variance.py, so that pictures of both can be laid beside each other. The others are
// ours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/interval.h"
#include "output/chart.h"

namespace jarvis::sweep {

// One of the knobs that a sweep turns.
struct PlotAxis {
  std::string name;   // "threads": as in variance_by_threads_boxplot
  std::string noun;   // "Thread": as in Thread-Channel Interaction
  std::string count;  // "Thread Count"
  std::string title;  // "Thread Configuration"
  std::string brief;  // "Threads"
  std::string unit;   // " threads", behind a value
  std::string mark;   // "t", behind a value where room is short
};
// Threads and channels as people know them; any other as it is called.
PlotAxis PlotAxisNamed(std::string_view name);

struct PlotConfig {
  std::vector<std::string> at;           // its value on each axis
  std::optional<double> step_ms;         // of the slowest rank
  std::optional<double> computation_ms;  // means over ranks
  std::optional<double> exposed_comm_ms;
  std::optional<double> gemm_slowdown_pct;  // overlapped against clear instances
  bool pareto = false;                      // nothing is better in all of the objectives
};

// The spread (longest less shortest) of one kernel on one rank of one configuration.
struct PlotVariance {
  std::size_t config = 0;  // index in configs
  std::int64_t rank = 0;
  double time_diff_us = 0;
};

// One GEMM kernel launch. `work` says which launches do the same (op, shapes, kernel).
struct PlotGemm {
  std::size_t config = 0;
  std::size_t work = 0;
  double duration_us = 0;
  double overlap_share = 0;  // of its time, 0 to 1, during which a collective ran
};

struct PlotBandwidth {
  std::size_t config = 0;
  std::string operation;  // "allreduce"
  double bytes = 0;       // of one message
  double gbps = 0;        // bus bandwidth
};

struct PlotRankStep {
  std::int64_t rank = 0;
  IntervalSet<double> compute;  // microseconds from the step's start
  IntervalSet<double> comm;
};

struct SweepPlotData {
  std::vector<PlotAxis> axes;
  std::vector<PlotConfig> configs;
  std::vector<PlotVariance> variance;
  std::vector<PlotGemm> gemms;
  std::vector<PlotBandwidth> bandwidth;
  std::string step_of;  // the configuration whose step is drawn: "512 threads, 28 channels"
  std::vector<PlotRankStep> step;
};

struct SweepPlot {
  std::string name;  // of its file, without an ending
  output::ChartSheet sheet;
};

// The five of the variance (for the axes there are), then heat maps, overlap, bandwidth, the step
// and the trade-off: in this order, whatever data there is. A plot that has none says so.
std::vector<SweepPlot> MakeSweepPlots(const SweepPlotData& data);

// Names of all plots that a sweep with such axes has.
std::vector<std::string> SweepPlotNames(std::span<const PlotAxis> axes);

}  // namespace jarvis::sweep
