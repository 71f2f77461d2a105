// Reports of several runs, sheet by sheet: from traces, or from directories of CSV tables, ours or
// the reference's.
#pragma once

#include <string>
#include <vector>

#include "analysis/compare_sheets.h"
#include "base/job.h"
#include "engine/report.h"
#include "engine/workspace.h"

namespace jarvis::engine {

struct CompareRequest {
  // At least two: ids or paths of traces, or directories. The first is the baseline; differences
  // are the others minus it.
  std::vector<std::string> inputs;
  // Tags in columns and file names, by input; empty: from the inputs' file names.
  std::vector<std::string> names;
  std::vector<std::string> sheets;  // see analysis::ChooseSheets
  Compat compat = Compat::kNone;
};

struct ReportComparison {
  std::vector<std::string> tags;
  std::vector<Table> tables;
  std::vector<std::string> notes;
};
Result<ReportComparison> CompareReports(Workspace& workspace, const CompareRequest& request,
                                        Job& job);

struct ComparisonFile {
  std::string path;
  std::string what;
  std::uint64_t rows = 0;
};
// One CSV file a table and comparison.xlsx, in the directory, which is made.
Result<std::vector<ComparisonFile>> WriteComparison(const ReportComparison& comparison,
                                                    const std::string& directory);

// The tables of a directory: every *.csv, by name. Errors: kBadValue if there is none or one is no
// table, kTooLarge.
Result<std::vector<Table>> ReadReport(const std::string& directory);

bool IsReportDirectory(const std::string& path);

}  // namespace jarvis::engine
