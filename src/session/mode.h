// What the modes of a report differ in. The rest of this folder asks the mode and never which one
// it is: ModeOf is the one place that chooses.
#pragma once

#include <span>
#include <string_view>

#include "analysis/align/diff_reading.h"
#include "analysis/attribution/table_rules.h"
#include "analysis/join/compare_sheets.h"
#include "analysis/tables/report_reading.h"
#include "base/embedded_file.h"
#include "rocprof/report/report.h"
#include "session/diff_report.h"
#include "session/report.h"

namespace jarvis::session {

struct Mode {
  // The trace and the models of the options must outlive the result.
  analysis::ReportReading (*read)(const LoadedTrace& trace,
                                  const analysis::ReadingOptions& options);
  analysis::DiffReading (*diff)();
  analysis::ReadDiffSide (*read_diff_side)(const LoadedTrace& trace, const DiffSideOptions& how,
                                           analysis::DiffNames& names);
  analysis::TableRules (*collective_rules)();
  analysis::CompareRules (*compare_rules)();
  rocprof::ReportRules (*rocprof_rules)();

  // The performance models: which of the built-in files count (null: all), and what is over them.
  bool (*has_models_of)(std::string_view file);
  std::span<const EmbeddedFile> (*model_overlays)();

  // The report about inference is made of the trace with its captures joined; else the reading
  // takes them itself.
  bool joins_captures;

  // A comparison of reports holds work against its platform, and tells what was found.
  bool judges_comparisons;

  // The report about a profile that has one of its own; null: none has. Empty: not this one.
  std::vector<Table> (*report_of_profile)(const LoadedTrace& trace);
};

const Mode& ModeOf(Compat compat);

}  // namespace jarvis::session
