// How two traces are aligned, and which tables are made of it. There are two readings: ours, and
// the reference's, which compat makes. Whoever aligns traces asks the reading and never which of
// the two it is.
#pragma once

#include <memory>
#include <vector>

#include "analysis/align/diff.h"
#include "analysis/align/tables.h"
#include "analysis/align/tree.h"
#include "table/table.h"

namespace jarvis::analysis {

struct DiffReading {
  Clock clock = Clock::kNanoseconds;
  DiffRules (*rules)() = nullptr;
  // The result does not depend on which of the traces is the primary one.
  bool in_any_order = true;
  // A trace without ops is an error.
  bool needs_ops = false;
  // diff_summary and roles are among the tables.
  bool has_summaries = true;

  DiffNames (*names)() = nullptr;
  Table (*stats)(const TraceDiff& diff) = nullptr;
  Table (*stats_summary)(const Table& diff_stats) = nullptr;
  // `diff` must outlive the result.
  ExtraColumns (*columns)(const TraceDiff& diff) = nullptr;
};

// A side with what it refers to.
struct ReadDiffSide {
  DiffSide side;
  std::shared_ptr<const void> refers_to;  // null: to nothing but the trace
};

}  // namespace jarvis::analysis
