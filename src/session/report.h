// The perf report: which tables it has, and how each is made.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/attribution/gpu_timeline.h"
#include "analysis/tables/kernel_tables.h"
#include "base/job.h"
#include "perf/model_rows.h"
#include "perf/platform.h"
#include "session/loaded_trace.h"

namespace jarvis::session {

enum class Compat : std::uint8_t { kNone, kTraceLens };

struct ReportOptions {
  Compat compat = Compat::kNone;
  // In compatible mode the timeline counts linked GPU work only, unless this is set. By default all
  // GPU work counts.
  bool include_unlinked_kernels = false;
  // Tell recomputed activations (torch.utils.checkpoint) apart: a column is_recompute.
  bool detect_recompute = false;
  bool pseudo_ops = false;  // see analysis/attribution/pseudo_ops.h
  // Keep calls that launched different numbers of kernels apart in ops_unique_args.
  bool group_by_num_kernels = false;
  bool include_first_occurrence_time = false;  // in ops_unique_args
  bool include_overlap_info = false;           // ops_unique_args_kl_overlap
  // Call stacks; in compatible mode Python frames change the tree and with it who launched what.
  bool include_call_stack = false;
  // The report about inference: other columns of ops_summary.
  bool inference = false;
  // Keep the calls of different modules apart in the tables about ops. Only for inference.
  bool group_by_parent_module = false;
  bool coll_analysis = true;  // if there are collectives
  // Roofs are of this; absent: no roofline columns.
  std::optional<perf::Platform> platform;
  // The performance models, a user's extension among them; null: those of the rule set.
  std::shared_ptr<const perf::ModelRows> models;
  // Rows of unified_perf_summary and of the family tables; absent: all.
  std::optional<std::int64_t> topk_ops;
  std::optional<std::int64_t> topk_roofline_ops;
  // A trace to compare with: columns of unified_perf_summary, and tables about the differences.
  std::shared_ptr<const LoadedTrace> comparison;
  bool kernel_summary = false;
  bool short_kernel_study = false;
  analysis::ShortKernelOptions short_kernels;
  std::optional<double> micro_idle_thresh_us;
};

// The tables in the report's order. In compatible mode a trace without (linked) GPU work is an
// error, as it is there.
Result<std::vector<Table>> MakeReport(const LoadedTrace& trace, const ReportOptions& options,
                                      Job& job);

// What every total of a trace leaves out: one row per part, with count, time and share.
Table CoverageTable(const analysis::Coverage& coverage);

}  // namespace jarvis::session
