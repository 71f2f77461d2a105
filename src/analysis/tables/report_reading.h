// How a report reads one trace: who launched what, which calls its tables about work are made of,
// and in what its tables differ from those of another reading. There are two readings: ours, and
// the reference's, which compat makes. Whoever makes a report asks the reading and never which of
// the two it is. Where both make the same table by other rules, TableRules says how.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/attribution/attribution.h"
#include "analysis/attribution/call_stack.h"
#include "analysis/attribution/op_work.h"
#include "analysis/attribution/overlap.h"
#include "analysis/attribution/work_calls.h"
#include "analysis/tables/ops_tables.h"
#include "base/job.h"
#include "base/result.h"
#include "perf/roofline.h"

namespace jarvis::analysis {

// What is asked of a report and may change how its trace is read.
struct ReadingOptions {
  bool include_unlinked_kernels = false;  // in a timeline that counts linked GPU work only
  bool detect_recompute = false;
  bool pseudo_ops = false;
  bool include_call_stack = false;
  bool inference = false;
  bool beside_captures = false;  // the trace to compare with has captures
  bool group_by_parent_module = false;
  bool include_overlap_info = false;
  std::shared_ptr<const perf::ModelRows> models;  // null: those of the reading
};

// The calls that the tables about work are made of.
struct ReportCalls {
  ReportCalls() = default;
  // A copy would refer to the original's calls.
  ReportCalls(const ReportCalls&) = delete;
  ReportCalls& operator=(const ReportCalls&) = delete;
  ReportCalls(ReportCalls&&) = default;
  ReportCalls& operator=(ReportCalls&&) = default;

  std::shared_ptr<const std::vector<WorkCall>> unified;  // never null
  std::unique_ptr<OpWorks> works;  // what the calls point to; null: it is kept with the trace
  // By table of a family, in the report's order. The calls are some of `unified` or of `others`.
  std::vector<std::pair<std::string, std::vector<const WorkCall*>>> families;
  std::vector<std::vector<WorkCall>> others;
};

// Owns what it refers to, except for the events and the models. The defaults are those of our
// reading.
struct ReportReading {
  // What the tables are of, where events were put beside those of the trace; null: its own. Events
  // of the trace are at the same places in both.
  std::shared_ptr<const trace::EventStore> events;
  std::shared_ptr<const Attribution> attribution;
  TableRules rules;
  std::shared_ptr<const std::vector<char>> recompute;  // by event; null: not asked for
  OverlapOptions overlap;
  std::shared_ptr<const std::vector<EventIndex>> op_of;  // what `overlap` refers to
  ParentFunction parent;                                 // callers, for modules
  ParentFunction caller;                                 // callers as recorded, for call stacks
  bool python_frames = true;                             // are callers
  perf::RoofRule roof_rule = perf::RoofRule::kAchievable;

  // A trace without GPU work in the timeline is an error.
  bool needs_gpu_work = false;
  // A trace without ops has no tables about ops.
  bool needs_ops = false;
  // Percentages refer to the milliseconds that the timeline shows.
  bool total_as_shown = false;
  // The report about inference has a table of collectives.
  bool collectives_of_inference = true;
  // A limit on the number of rows is kept.
  bool limits_rows = true;
  // Kernel cells have call stacks where there are no columns of them.
  bool stacks_in_kernel_cells = false;
  // Behind the call stack of a part of an op stands that of its launch, from the root.
  bool parts_repeat_callers = false;
  // What runs beside a call is told of the work that its launcher launched itself, even where a row
  // has all below it; the tables of families say nothing of calls that launched none.
  bool overlaps_of_launchers = false;
  // model_coverage and coverage are among the tables.
  bool has_coverage = true;

  // Errors: kCancelled.
  std::function<Result<ReportCalls>(const Job& job)> calls;
  // Last changes to finished tables: of the families, and of short_kernels_summary. Empty: none.
  std::function<void(std::vector<Table>* families)> finish_families;
  std::function<void(const TableInput& input, double threshold_us, Table* summary)>
      finish_short_kernels;
};

}  // namespace jarvis::analysis
