// The whole analysis of one trace as one value. Everything that is written, shown or reported is
// made from it, so that no two of them disagree.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/attribution/gpu_timeline.h"
#include "base/job.h"
#include "base/number_text.h"
#include "base/result.h"
#include "findings/one/baseline.h"
#include "findings/one/category_analysis.h"
#include "findings/one/cpu_steps.h"
#include "findings/one/finding.h"
#include "findings/one/fusion.h"
#include "findings/one/idle.h"
#include "findings/one/multi_kernel.h"
#include "findings/one/priorities.h"
#include "findings/one/quality.h"
#include "findings/one/recorded_span.h"
#include "findings/one/replay_structure.h"
#include "findings/one/slow_instances.h"
#include "findings/one/step_base.h"
#include "findings/one/too_little.h"
#include "findings/one/uncovered_lines.h"
#include "findings/one/wall_savings.h"
#include "findings/one/work_context.h"
#include "findings/one/workload.h"
#include "ledger/books/bounds.h"
#include "ledger/books/step_bound.h"
#include "perf/model_rows.h"
#include "perf/platform.h"
#include "session/loaded_trace.h"

namespace jarvis::session {
struct TraceFrames;
}

namespace jarvis::findings {

struct AnalysisOptions {
  // The performance models, a user's extension among them; null: the built-in ones.
  std::shared_ptr<const perf::ModelRows> models;
  // The texts of fixes, a user's among them; null: ours.
  std::shared_ptr<const levers::Fixes> fixes = nullptr;
  bool operator==(const AnalysisOptions&) const = default;
};

struct Totals {
  bool has_gpu_work = false;
  double window_ms = 0;  // E2E: first start to last end of GPU work
  double busy_ms = 0, idle_ms = 0, computation_ms = 0;
  double exposed_comm_ms = 0, exposed_copy_ms = 0;
  double category_sum_ms = 0;  // of all categories: concurrent work counts as often as it ran
  double unlinked_ms = 0;
  std::uint64_t unlinked_count = 0;
  double unmodeled_ms = 0;  // time that has no roof
  std::optional<double> Percent(double ms) const {
    return window_ms > 0 ? std::optional(ms / window_ms * 100) : std::nullopt;
  }
  // Absent also of what takes longer than the window: it lies in part outside.
  std::optional<double> Share(double ms) const {
    return ms <= window_ms ? Percent(ms) : std::nullopt;
  }
};

// A finding that somebody said does not apply; see choices.h.
struct DismissedFinding {
  Finding finding;
  std::string reason;
};

// A figure that somebody worked out of the tables that `query` asks.
struct DerivedFigure {
  std::string name;             // "copies of weights": what it is
  std::string unit;             // "ms", "%", "GB/s"...
  std::string sql;              // the question that has it for its one answer
  std::optional<double> value;  // as it comes out; absent: it no longer does
};

struct Analysis {
  std::string trace_id;
  std::shared_ptr<const levers::Fixes> fixes;  // null: ours
  std::string platform;                        // name; empty: none known
  std::string device;                          // as the trace names it; empty: it does not
  std::optional<double> peak_tb_per_s;
  Totals totals;
  std::shared_ptr<const session::TraceFrames> frames;  // whose time it is; never null
  StepBase base;                                       // what shares of time are of
  ledger::StepBound bound;                             // what bounds it
  ledger::Bounds line_bounds;                          // of the lines of its books
  std::optional<CpuSteps> cpu;   // of a recording of host ops without GPU work
  std::vector<Quality> quality;  // the gravest first
  WorkContext context;
  std::vector<CategoryAnalysis> categories;  // the longest first, ties by name
  IdleAnalysis idle;
  MultiKernelAnalysis multi_kernel;
  FusionAnalysis fusion;
  Baseline baseline;
  Workload workload;
  std::optional<ReplayStructure> replay;    // of the graph with the most time; absent: none
  std::vector<Finding> findings;            // all tiers, by global_rank
  std::vector<DismissedFinding> dismissed;  // in no sum
  std::string order_because;                // why the order is somebody's; empty: it is ours
  std::vector<DerivedFigure> derived;
  std::vector<CategoryPriority> priorities;  // all categories
  Combined combined;                         // of all findings, GPU time
  WallBase wall;                             // what savings of wall time are of
  // Of each kind's GPU time the part that findings with a sized way out are about, from 0 to 1.
  std::array<double, ledger::kWorkKinds> covered{};
  // Of the wall time of the others, what the sizes in their names need at the least, and what the
  // largest sizes need that fit; 0: some have no such end.
  std::array<double, ledger::kWorkKinds> uncovered_least_ms{}, uncovered_most_ms{};
  // By kind of work: the op with most of the time that no finding is about; empty: none has most.
  std::array<std::string, ledger::kWorkKinds> uncovered_op;
  std::vector<UncoveredLine> uncovered;       // that no finding is about
  std::optional<SlowInstance> slow_instance;  // of like modules; absent: none
  std::optional<double> few_blocks_percent;   // see FewBlocksPercent
  std::optional<RecordedSpan> recorded_span;  // absent: nothing says how long was recorded
  std::optional<TooLittle> too_little;        // to rank: then there are no findings
  std::optional<GraphBuild> costly_graph;     // that its replays do not pay for
  // Findings empty: why there is nothing to fix ("near_roof", "no_gpu_work", "no_platform"...).
  std::vector<std::string> nothing_because;

  // Kinds of GPU work in large lines without a bound (ledger::UnassessedKinds), of which no finding
  // sizes the most; the longest first, and their wall time of all units.
  std::vector<ledger::WorkKind> UnassessedKinds() const;
  double UnassessedMs() const;
  // Findings with a sized way out are about the most of it.
  bool IsCovered(ledger::WorkKind kind) const {
    return covered[static_cast<std::size_t>(kind)] >= kCoveredMost;
  }
  // Of a kind's wall time, of all units: what no finding with a sized way out is about.
  double UncoveredMs(ledger::WorkKind kind) const {
    return MillisOf(frames->books.wall.Of(kind)) * (1 - covered[static_cast<std::size_t>(kind)]);
  }
  bool NothingToSave() const;  // by the bounds of all lines (ledger::NothingToSave)

  // What its fixes say; nothing but words depends on it.
  const levers::Fixes& Texts() const { return fixes ? *fixes : levers::Shipped(); }

  const CategoryAnalysis* FindCategory(std::string_view key) const;  // by exact key
  const Operation* FindOperation(std::string_view id) const;
  // The GPU work that a finding is of, in order; empty: it does not say.
  std::vector<trace::EventIndex> WorkOf(const Finding& finding) const;
  const Finding* FindFinding(std::string_view id) const;
};

// `platform` null: no roofs, so no efficiency and no quantified finding; the analysis says so.
// Errors: kCancelled. A trace without GPU work is an analysis that says what it cannot say.
Result<Analysis> Analyze(const session::LoadedTrace& trace, const perf::Platform* platform,
                         const AnalysisOptions& options, Job& job);

}  // namespace jarvis::findings
