// What is kept of every trace of a sweep after it was read once: plain facts, from which all
// tables, plots and recommendations of the sweep are made.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/ranks/collective_report.h"
#include "base/interval.h"
#include "sweep/scan/scan.h"
#include "table/table.h"

namespace jarvis::sweep {

// One kernel that a GEMM op launched.
struct GemmInstance {
  std::int64_t start_ns = 0;  // on the trace's clock
  double start_us = 0;        // as the file says
  double dur_us = 0;
  double overlap = 0;  // share of it (0..1) while a collective of the same rank ran
};

// All kernels of one name that calls of one op with one set of shapes launched, by start.
struct GemmKernel {
  std::string op;    // "aten::addmm"; empty: a GEMM kernel that no op launched
  std::string dims;  // "[[2304], [25088, 768]]"; may be empty
  std::string kernel;
  std::int64_t work_groups = 0;  // of the first launch; 0: not recorded
  std::int64_t group_size = 0;   // threads of a work-group; 0: not recorded
  std::vector<GemmInstance> instances;
};

// The slowest and the fastest call of a row of the GEMM table.
struct Extremes {
  double min_start_us = 0, max_start_us = 0;  // absolute, as the file says
  double min_us = 0, max_us = 0;
};

// A row of the rank's GEMM table, as the variance table sees it.
struct GemmRow {
  std::string kernel;  // the op's kernel with most time
  std::optional<Extremes> extremes;
};

// What a collective kernel was launched with.
struct LaunchShape {
  std::int64_t channels = 0;  // blocks
  std::int64_t threads = 0;   // of a block
  auto operator<=>(const LaunchShape&) const = default;
};

struct RankFacts {
  std::int64_t rank = 0;
  std::string file;                        // below the sweep
  std::vector<Table> tables;               // of its report
  std::vector<GemmRow> gemm_rows;          // by row of its table GEMM
  std::vector<GemmKernel> gemms;           // by time, the longest first
  std::map<LaunchShape, double> launches;  // of collectives: time in microseconds
  std::size_t steps = 0;                   // profiler steps; 0: not marked
  std::string device;                      // name of the first GPU
  std::int64_t compute_units = 0;          // of that; 0: not recorded
  std::vector<std::pair<std::string, std::string>> versions;  // of runtime, driver, NCCL...
  IntervalSet<std::int64_t> computing, communicating;         // ns on the trace's clock
  const Table* Find(std::string_view table) const;
};

struct ConfigFacts {
  std::vector<RankFacts> ranks;            // by rank; whole traces only
  std::unique_ptr<analysis::RankSet> set;  // the same, with their collectives
  // Of `set`; null by the rule of the reference.
  std::unique_ptr<analysis::JointTimeline> joint;
  analysis::CollectiveReport collectives;  // refers to both
  bool with_collectives = false;           // `collectives` was made and has some
  bool complete = false;                   // every rank of the world is there and whole
};

struct SweepFacts {
  Sweep sweep;
  std::vector<ConfigFacts> configs;  // by Sweep::configs
  std::vector<Warning> warnings;     // those of the scan first
  bool reference_compat = false;
  bool complete() const;  // nothing is missing
};

// The longest over its ranks of the time from the first to the last GPU work, a step; ms. A
// synchronous job is as fast as its slowest rank. Absent: no trace with GPU work.
std::optional<double> StepTimeMs(const analysis::RankDigest& rank, const RankFacts& facts);
std::optional<double> StepTimeMs(const ConfigFacts& config);

}  // namespace jarvis::sweep
