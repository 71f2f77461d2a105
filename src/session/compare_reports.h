// Reports of several runs, sheet by sheet.
#pragma once

#include <string>
#include <vector>

#include "analysis/join/compare_sheets.h"
#include "base/job.h"
#include "session/report.h"
#include "session/report_source.h"

namespace jarvis::session {

struct CompareRequest {
  // At least two. The first is the baseline; differences are the others minus it.
  std::vector<ReportSource> sources;
  // Tags in columns and file names, by source; empty: from the sources' file names.
  std::vector<std::string> names;
  std::vector<std::string> sheets;  // see analysis::ChooseSheets
  Compat compat = Compat::kNone;
};

struct ReportComparison {
  std::vector<std::string> tags;
  std::vector<Table> tables;
  std::vector<std::string> notes;
};
// The mode has findings about a pair of traces: see findings/two.
bool JudgesPairs(Compat compat);

// The tags of the sources. Errors: kBadValue for names.
Result<std::vector<std::string>> TagsOf(const CompareRequest& request);

// Errors: those of TagsOf, kBadValue for sheets, and in compatible mode for a sheet that a report
// lacks; kTooLarge. What was derived from large traces is dropped: what needs it comes before.
Result<ReportComparison> CompareReports(const CompareRequest& request, Job& job);

}  // namespace jarvis::session
