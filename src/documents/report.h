// The documents of an analysis, as markdown: the users' two reports, the report with markers that
// programs read, and one file of findings a category. All are made from one Analysis, so their
// figures agree; every figure in their prose stands in one of their tables too.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "documents/prose.h"
#include "findings/one/analysis.h"
#include "perf/platform.h"

namespace jarvis::documents {

// A tool call that was made on the way, for the working notes.
struct CallRecord {
  std::string tool;
  std::string arguments;  // as JSON; without where files go
  std::string answer;     // its headline, or its error
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;  // of the answer's text
  bool failed = false;
};

struct ReportSources {
  const findings::Analysis& analysis;
  const perf::Platform* platform = nullptr;  // null: none is known
  TextEdits edits;
  std::vector<CallRecord> calls;          // in order
  std::vector<std::string> replay_files;  // packages in the output directory, relative to it
  std::vector<std::string> reports;       // which there are: "fair", "rough", "analysis"
  std::string trace_name;                 // the file's name
};

// File names, relative to the output directory.
inline constexpr std::string_view kFairFile = "standalone_analysis_fair.md";
inline constexpr std::string_view kRoughFile = "standalone_analysis_rough.md";
inline constexpr std::string_view kAnalysisFile = "analysis.md";
inline constexpr std::string_view kChartFile = "perf_improvement.svg";

// Standalone report for stakeholders: summary, recommendations with both paths, details, appendix.
std::string RenderFair(const ReportSources& sources);
// Working notes: what was called and what it said, raw tables, call sites, gaps, questions.
std::string RenderRough(const ReportSources& sources);
// The report with impact markers.
std::string RenderAnalysis(const ReportSources& sources);
// category_findings/<key>_findings.md.
std::string RenderCategoryFindings(const ReportSources& sources,
                                   const findings::CategoryAnalysis& category);
// system_findings/<key>_findings.md; key: "cpu_idle", "multi_kernel", "kernel_fusion".
std::string RenderSystemFindings(const ReportSources& sources, std::string_view key);
// The SVG: where the time goes, and what of it the findings could save.
std::string RenderChart(const ReportSources& sources);

}  // namespace jarvis::documents
