// The comparison of whole runs as the reference's scripts for single configurations make it: of two
// runs (combine_reports, add_comparison_sheets, add_collective_comparison, create_final_report),
// cell for cell. Those of any number are in run_reports_all.h, with the opposite sign of "change".
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

}  // namespace jarvis::compat
