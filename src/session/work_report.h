// The report's tables about work: unified_perf_summary, one table a family of models,
// model_coverage.
#pragma once

#include <vector>

#include "analysis/attribution/overlap.h"
#include "analysis/tables/work_tables.h"
#include "base/job.h"
#include "session/report.h"
#include "session/trace_work.h"

namespace jarvis::compat {
struct TraceLensTree;
}

namespace jarvis::session {

// What all tables of one report share.
struct ReportParts {
  const analysis::Attribution& attribution;
  analysis::TableRules rules;
  const std::vector<char>* recompute;  // by event; null: not asked for
  analysis::OverlapOptions overlap;
  analysis::ParentFunction parent;                        // callers, for modules
  analysis::ParentFunction caller;                        // callers as recorded, for call stacks
  const compat::TraceLensTree* reference_tree = nullptr;  // of the compatible mode
  bool python_frames = true;
  const analysis::Overlaps* overlaps = nullptr;  // if they were asked for
  const analysis::ExtraColumns* comparison =
      nullptr;                      // of unified_perf_summary, with another trace
  const TraceWork* work = nullptr;  // of `attribution` by the rules' models, where it is known
};

// Appends the tables in the report's order.
Result<void> AddWorkTables(const LoadedTrace& trace, const ReportParts& parts,
                           const ReportOptions& options, const analysis::TableInput& input,
                           Job& job, std::vector<Table>* tables);

}  // namespace jarvis::session
