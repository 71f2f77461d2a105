// The comparison of one to eight sweeps as one HTML file: numbers first, then pictures with common
// axes. Everything in it is given; nothing is judged here. Signs everywhere: change_pct =
// (test - base) / base * 100, so that for times less is better.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sweep/draw/plots.h"

namespace jarvis::sweep {

// What a change against the baseline amounts to.
enum class PageVerdict {
  kUnknown,   // nothing to compare with
  kBaseline,  // is what others are compared with
  kNoise,     // within the noise of ranks and steps, or below the threshold
  kBetter,
  kWorse,
};

struct PageWarning {
  std::string config;  // may be empty
  std::string rank;
  std::string file;
  std::string code;  // RANK_MISSING
  std::string message;
};

struct PageBest {
  std::string objective;  // "step time"
  std::string config;     // "512 threads, 28 channels"; empty: not known
  std::string value;      // "44.663 ms"
  std::string note;       // "0.8 % ahead of 256/42"
};

struct PageSweep {
  std::string label;
  std::string path;
  std::vector<std::pair<std::string, std::string>> provenance;  // date, GPU, versions, grid, ranks
  bool complete = true;
  std::vector<PageWarning> warnings;
  std::vector<PageBest> best;
  std::vector<std::string> pareto;  // configurations
  SweepPlotData plots;
};

// One metric of one configuration in one sweep.
struct PageValue {
  std::optional<double> mean;             // over ranks; absent: the sweep does not have it
  std::optional<double> worst;            // rank
  std::optional<double> change_pct;       // against the same configuration of the baseline
  std::optional<double> behind_best_pct;  // against the sweep's best configuration; 0: the best
  PageVerdict verdict = PageVerdict::kUnknown;
  std::string why;  // "95 % interval -1.2 to 0.4 %": small print
};
struct PageMetric {
  std::string name;  // "Step time"
  std::string unit;  // "ms"
  struct Row {
    std::string config;
    std::vector<PageValue> sweeps;  // in the order of the page's sweeps
  };
  std::vector<Row> rows;
};

struct PageKernel {
  std::string op;      // aten::mm
  std::string shapes;  // ((8192,4096),(4096,4096))
  std::string kernel;
  std::string other_kernel = {};  // of a change of selection: what the test sweep runs instead
  std::optional<double> base_us;  // mean
  std::optional<double> test_us;
  std::optional<double> change_pct;
  PageVerdict verdict = PageVerdict::kUnknown;
  std::string why = {};
};
// A list and how many more there are than it shows.
struct PageKernelList {
  std::vector<PageKernel> kernels;
  std::size_t more = 0;
};
// Of one sweep against the baseline.
struct PageKernelChanges {
  std::size_t sweep = 0;  // index of the sweep
  std::size_t matched = 0;
  PageKernelList regressed;
  PageKernelList improved;
  PageKernelList only_base;
  PageKernelList only_test;
  PageKernelList selection;  // the same shapes, another kernel
};

struct PageCollective {
  std::string operation;
  std::string message;  // "33554432 elements BFloat16, 8 ranks"
  struct Side {
    std::optional<std::int64_t> count;
    std::optional<double> latency_us;
    std::optional<double> bus_gbps;
    std::optional<double> latency_change_pct;
    PageVerdict verdict = PageVerdict::kUnknown;
  };
  std::vector<Side> sweeps;
};

struct ComparisonPage {
  std::string title = "GEMM kernel variance: comparison of sweeps";
  std::vector<PageSweep> sweeps;  // one to eight
  std::size_t baseline = 0;
  std::vector<PageMetric> metrics;
  std::vector<PageKernelChanges> kernels;
  std::vector<PageCollective> collectives;
  std::size_t more_collectives = 0;
  std::vector<std::string>
      missing;                      // "ROCm 7.0: 512 threads, 70 channels": left out of comparisons
  std::vector<std::string> method;  // notes
};

std::string RenderComparisonPage(const ComparisonPage& page);

}  // namespace jarvis::sweep
