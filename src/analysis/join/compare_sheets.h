// Which sheets of perf reports are compared, and on what: gpu_timeline, ops_summary,
// kernel_summary, the tables of signatures (ops_unique_args, unified_perf_summary), one table a
// family of models, and of whole jobs the tables about their ranks and collectives.
#pragma once

#include <string>
#include <vector>

#include "analysis/join/report_compare.h"
#include "base/result.h"

namespace jarvis::analysis {

struct ReportTables {
  std::string tag;
  std::vector<Table> tables;
};

// The sheet groups that can be asked for; "all" is every one of them.
//   ops_all: ops_unique_args and unified_perf_summary    roofline: the families' tables
//   collectives: nccl_summary_implicit_sync, nccl_summary_long and rank_summary
struct SheetChoice {
  bool gpu_timeline = true;
  bool ops_summary = true;
  bool kernel_summary = true;
  bool ops_all = true;
  bool roofline = true;
  bool collectives = true;
  bool all = true;  // nothing was picked: what no report has is not missed
};
// Errors: kBadValue for a name that is no group, with those that are. Empty: all.
Result<SheetChoice> ChooseSheets(const std::vector<std::string>& names);

// The default is right; compat/ has the reference's.
struct CompareRules {
  JoinRules join;
  // Kernels are the same only below the same op; those of several streams are added up. Else they
  // are the same by name.
  bool kernels_by_op = true;
  // Columns that keep rows apart (is_recompute, parent_module, num_kernels) are keys too.
  bool further_keys = true;
  // Every family of models; else the seven that the reference lists.
  bool all_families = true;
  // The reference compares no report about collectives.
  bool collectives = true;
  // A sheet that a report does not have is left out, with a note. Else it is an error.
  bool skip_missing = true;
};

struct ComparedSheets {
  std::vector<Table> tables;
  std::vector<std::string> notes;  // which sheets are not there, and why
};

// REQUIRES: 2 to kReportsMax reports with different tags. The first is the baseline. What is
// compared moves from the reports into the sheets: both at once may be too much for the memory.
Result<ComparedSheets> CompareSheets(std::vector<ReportTables> reports, const SheetChoice& choice,
                                     const CompareRules& rules);

}  // namespace jarvis::analysis
