// The difference of two ledgers: one unit of the candidate against one of the baseline, line by
// line, in whole nanoseconds.
//
// The wall lines add up to the difference of the two units exactly: what dividing a base by its
// units leaves goes to the lines with the largest remainders, of each side by itself. So a ledger
// against itself has zeros alone, and exchanging the sides turns every sign.
//
// Pure functions, any thread. The stores must outlive what is made of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/books/books.h"
#include "table/table.h"
#include "trace/event_store.h"

namespace jarvis::ledger {

struct LedgerSide {
  const trace::EventStore& events;
  const analysis::BaseOfTime& base;
  const Books& books;
};

// Arrays: of the candidate, of the baseline.
struct DifferenceLine {
  std::string_view book;  // as in LedgerRow; lines of "gpu" are kernels, by name
  std::string line;
  std::string kind;
  std::optional<WorkKind> work;     // of wall lines of GPU work, and of kernels
  std::optional<IdleCause> idle;    // of wall lines of idle time
  std::int64_t ns[2] = {0, 0};      // wall time, of kernels their durations, of the host its time
  std::int64_t gpu_ns[2] = {0, 0};  // of wall lines: sum of durations
  std::int64_t exposed_ns[2] = {0, 0};  // of GPU work: nothing else runs on the GPU
  double calls[2] = {0, 0};             // of GPU work
  std::int64_t delta_ns() const { return ns[0] - ns[1]; }
};

struct LedgerDifference {
  analysis::TimeUnit unit[2] = {};
  std::int64_t count[2] = {1, 1};  // units in the base
  std::int64_t unit_ns[2] = {0, 0};
  // The largest change first. Lines that neither side has are left out.
  std::vector<DifferenceLine> wall;
  // Kernels of one name and kind; numbers that a compiler puts behind names do not count.
  std::vector<DifferenceLine> kernels;
  std::vector<DifferenceLine> host;  // the threads that launch most, together
  std::int64_t delta_ns() const { return unit_ns[0] - unit_ns[1]; }
};

LedgerDifference DifferenceOf(const LedgerSide& candidate, const LedgerSide& baseline);

// "ledger": book, line, kind, candidate_ms, baseline_ms, delta_ms and, of GPU work,
// candidate_gpu_ms, baseline_gpu_ms, candidate_exposed_ms, baseline_exposed_ms, candidate_calls,
// baseline_calls; all of one unit. The first row is the unit; the wall's rows add up to it.
Table DifferenceTable(const LedgerDifference& difference);

}  // namespace jarvis::ledger
