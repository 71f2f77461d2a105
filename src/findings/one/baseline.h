// What this trace's hardware reaches with simple elementwise ops.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "findings/one/category_analysis.h"

namespace jarvis::findings {

struct Calls;

// What this trace's hardware was seen to do with simple elementwise ops: the time-weighted 90th
// percentile of their bandwidth over calls that move enough.
struct Baseline {
  std::optional<double> tb_per_s;         // absent: no such call
  std::optional<double> percent_of_peak;  // absent: no platform either
  bool assumed = false;                   // limits::kBaselineGood of the peak, for want of calls
  double min_tb_per_s = 0, max_tb_per_s = 0;
  std::uint64_t calls = 0;
  std::vector<std::string> operations;  // ids of the rows that it is made of
  // Every modelled memory-bound row against it, the longest first.
  struct Row {
    std::string operation;  // id
    double tb_per_s = 0;
    double percent_of_baseline = 0;
    std::string verdict;  // "at_baseline", "below_baseline", "kernel_not_hardware", "strided"
  };
  std::vector<Row> rows;
};
Baseline FindBaseline(const Calls& calls, const std::vector<CategoryAnalysis>& categories);

}  // namespace jarvis::findings
