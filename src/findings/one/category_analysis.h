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
  double foreign_us = 0;  // of it, launched before the recording or in odd steps
  double exclusive_us = 0;
  double host_us = 0;
  double sync_us = 0;  // in synchronising runtime calls below its ops
  std::uint64_t sync_calls = 0;
  std::uint64_t calls = 0;
  double foreign_calls = 0;                // as of its operations
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

}  // namespace jarvis::findings
