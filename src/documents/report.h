// What the documents of an analysis are made from. They are markdown: the users' two reports
// (report_fair.h, report_rough.h), and the report with markers that programs read with one file of
// findings per category (report_analysis.h); chart.h draws. All are made from one Analysis, so
// their figures agree; every figure in their prose stands in one of their tables too.
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

}  // namespace jarvis::documents
