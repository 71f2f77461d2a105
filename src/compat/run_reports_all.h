// The comparison of any number of runs as the reference's script (compare_all_runs) makes it, cell
// for cell.
#pragma once

#include <span>
#include <vector>

#include "compat/run_reports.h"
#include "table/table.h"

namespace jarvis::compat {

// The sheets of final_analysis_report_for_all.xlsx; the first run is the baseline. In them negative
// percents mean better.
std::vector<Table> AllRunsReport(std::span<const RunTables> runs);

}  // namespace jarvis::compat
