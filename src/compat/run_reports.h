// The comparison of whole runs as the reference's scripts for single configurations make it: of two
// runs (combine_reports, add_comparison_sheets, add_collective_comparison, create_final_report) and
// of any number (compare_all_runs). Cell for cell, with two opposite signs of "change".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "table/table.h"

namespace jarvis::compat {

// What the scripts read of a run. Null tables: there is none.
struct RunTables {
  std::string label;
  std::vector<std::pair<std::int64_t, const Table*>> timelines;  // gpu_timeline by rank
  const Table* summary_implicit_sync = nullptr;                  // of the collective report
  const Table* summary_long = nullptr;
};

// The sheets of final_analysis_report.xlsx. In them positive percents mean that `test` is better.
std::vector<Table> PairReport(const RunTables& baseline, const RunTables& test);

// The sheets of final_analysis_report_for_all.xlsx; the first run is the baseline. In them negative
// percents mean better.
std::vector<Table> AllRunsReport(std::span<const RunTables> runs);

}  // namespace jarvis::compat
