// The comparison of training runs that have no grid of configurations (one directory of ranks
// each): its pictures and its page, for two or more runs. The first run is the baseline. Signs as
// in sweep/draw/page.h: change_pct = (test - base) / base * 100.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sweep/draw/plots.h"

namespace jarvis::sweep {

// One row of the GPU timeline: "computation_time".
struct SingleTime {
  std::string type;
  std::vector<std::pair<std::int64_t, double>> ms;  // by rank
};

struct SingleCollective {
  std::string operation;
  std::int64_t elements = 0;
  std::optional<double> latency_us;  // mean
  std::optional<double> algo_gbps;
  std::optional<double> bus_gbps;
  std::optional<double> total_ms;
};

struct SingleRun {
  std::string label;
  std::string path;
  std::vector<SingleTime> times;
  std::vector<SingleCollective> collectives;
};

struct SinglePage {
  std::string title = "Performance comparison";
  std::vector<SingleRun> runs;
  double threshold_pct = 1;  // changes below it are not coloured
  std::vector<std::string> method;
};
std::string RenderSinglePage(const SinglePage& page);

}  // namespace jarvis::sweep
