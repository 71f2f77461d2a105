// The tables of two aligned traces.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/align/diff.h"
#include "analysis/tables/work_tables.h"
#include "table/table.h"

namespace jarvis::analysis {

struct DiffStatsOptions {
  // Rows of GPU events without an op around them are left out.
  bool only_with_op = false;
  // Busy times have three decimals.
  bool rounded = false;
};

// One row per GPU event of either trace: its op, its time, and the LCA under which it is compared.
// Rows of one LCA stand together, those of the primary trace first.
Table DiffStats(const TraceDiff& diff, const DiffStatsOptions& options);

// Are the rows of both traces the same, less the column `source`? Numbers of events count.
bool DiffIsEmpty(const Table& diff_stats);

// diff_stats with equal rows added up: `left_out` columns are not looked at. The longest first.
Table DiffStatsSummary(const Table& diff_stats, const std::vector<std::string>& left_out);

// One row per distinct (LCA name, module): how often, both times, and the difference in words. All
// GPU work of both traces once, so that the columns of times add up to the totals. By the size of
// the difference.
Table DiffSummary(const TraceDiff& diff);

// Both trees as one text, a line per node: "name", "combined: a | b", ">> trace1: a", "<< trace2:
// b". At most `lines_max` lines; then one that says how many are missing.
std::string MergedTreeText(const TraceDiff& diff, std::size_t lines_max);

// Columns of unified_perf_summary. An LCA that several rows share is split among them by their
// share of the primary trace's time there, so that rows add up to both traces' times; the last
// column says so. Each name of an LCA stands there once, of the ids the first 50.
ExtraColumns LcaColumns(const TraceDiff& diff);

}  // namespace jarvis::analysis
