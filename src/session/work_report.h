// The report's tables about work: unified_perf_summary, one table per family of models,
// model_coverage.
#pragma once

#include <vector>

#include "analysis/attribution/overlap.h"
#include "analysis/tables/report_reading.h"
#include "analysis/tables/work_tables.h"
#include "base/job.h"
#include "session/report.h"

namespace jarvis::session {

// What all tables of one report share.
struct ReportParts {
  const analysis::ReportReading& reading;
  const analysis::Overlaps* overlaps = nullptr;        // null: they were not asked for
  const analysis::ExtraColumns* comparison = nullptr;  // of unified_perf_summary; null: none
};

// Appends the tables in the report's order.
Result<void> AddWorkTables(const ReportParts& parts, const ReportOptions& options,
                           const analysis::TableInput& input, Job& job, std::vector<Table>* tables);

}  // namespace jarvis::session
