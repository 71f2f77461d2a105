// The analysis of one category of ops: its operations against the right limit, patterns, findings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "findings/one/finding.h"
#include "findings/one/operation.h"

namespace jarvis::findings {

enum class Status : std::uint8_t {
  kOk,
  kNoData,  // nothing of the kind in the trace; `note` says why that may be
};
std::string_view StatusText(Status status);  // "OK", "NO_DATA"

// Which rules a category is analysed by; several categories share one.
enum class Kind : std::uint8_t {
  kGemm,
  kElementwise,
  kSdpa,
  kReduce,
  kNorm,
  kConvolution,
  kMoe,
  kTriton,
  kCommunication,
  kOther,
};
std::string_view KindText(Kind kind);  // "gemm", ...: also the skill's name without "-analysis"
Kind KindOf(std::string_view category_key);

struct CategoryAnalysis {
  std::string key;           // file name: "conv_fwd"
  std::string display_name;  // "CONV_fwd"
  Kind kind = Kind::kOther;
  Status status = Status::kOk;
  double gpu_us = 0;
  double exclusive_us = 0;
  double host_us = 0;
  double sync_us = 0;  // in synchronising runtime calls below its ops
  std::uint64_t sync_calls = 0;
  std::uint64_t calls = 0;
  std::optional<double> percent_of_total;  // of the window
  std::optional<double> percent_of_computation;
  std::optional<double> efficiency;   // of the time that has a roof
  double modeled_us = 0;              // time that has a roof
  bool worth_work = false;            // above limits::kCategoryWorthWork
  std::vector<Operation> operations;  // the longest first
  std::vector<Finding> findings;      // by rank
  std::vector<Anomaly> anomalies;
  std::vector<PatternHit> patterns;  // of the category as a whole
  std::vector<Fact> specifics;       // "quantized_count", "transpose_percent"...
  // Why there is no finding, or what could not be judged; keys: "no_platform", "no_shapes",
  // "no_model", "near_roof", "below_threshold", "routing_assumed", "graph_replay".
  std::vector<std::string> notes;
};

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

}  // namespace jarvis::findings
