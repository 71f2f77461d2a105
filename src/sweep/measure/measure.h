// Reads every trace of a sweep once, several at a time, and keeps what the sweep's tables need.
#pragma once

#include "base/job.h"
#include "io/file_policy.h"
#include "sweep/measure/facts.h"

namespace jarvis::sweep {

struct MeasureOptions {
  int threads = 0;  // 0: one per core
  std::uint64_t trace_bytes_max = 0;
  // The numbers of the reference's report tool of 2025-12, which sweeps were analysed with.
  bool reference_compat = false;
  // The tables of reports; without them the facts about GEMM rows are missing too.
  bool tables = true;
  std::vector<std::string> configs;  // labels; empty: all
  std::vector<std::int64_t> ranks;   // empty: all
};

// A trace that cannot be read, or is not whole, costs itself only: it is in the warnings and in no
// table. Errors: kBadValue for a label that the sweep does not have; kNotATrace if no trace can be
// read.
Result<SweepFacts> MeasureSweep(const io::FilePolicy& files, Sweep sweep,
                                const MeasureOptions& options, Job& job);

}  // namespace jarvis::sweep
