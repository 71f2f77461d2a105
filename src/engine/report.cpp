#include "engine/report.h"

#include "compat/tracelens.h"
#include "tree/recompute.h"

namespace jarvis::engine {
namespace {

struct Made {
  const analysis::Attribution& attribution;
  analysis::TableRules rules;
  const std::vector<char>* recompute;  // by event; null: not asked for
};

struct Timeline {
  Table table;
  std::optional<double> total_us;  // what percent columns of other tables refer to
};

Timeline MakeTimeline(const LoadedTrace& trace, const Made& made, const ReportOptions& options) {
  const auto compute = [&](std::span<const trace::EventIndex> work) {
    return analysis::ComputeGpuTimeline(trace.events(), work, made.rules.clock,
                                        options.micro_idle_thresh_us);
  };
  const auto total = [](const std::optional<analysis::GpuTimeline>& timeline) {
    return timeline ? std::optional(timeline->total) : std::nullopt;
  };
  if (made.recompute == nullptr) {
    const auto timeline = compute(made.attribution.timeline);
    return {analysis::GpuTimelineTable(timeline), total(timeline)};
  }
  std::vector<trace::EventIndex> parts[2];
  for (const trace::EventIndex e : made.attribution.timeline) {
    parts[(*made.recompute)[e] != 0 ? 1 : 0].push_back(e);
  }
  const auto first = compute(parts[0]);
  return {analysis::RecomputeTimelineTable(first, compute(parts[1])), total(first)};
}

Result<std::vector<Table>> MakeTables(const LoadedTrace& trace, const Made& made,
                                      const ReportOptions& options, Job& job) {
  const bool tracelens = options.compat == Compat::kTraceLens;
  const analysis::TableInput input{trace.events(), trace.track_names(), made.attribution,
                                   made.rules, made.recompute};
  if (made.attribution.timeline.empty() && tracelens) {
    return Fail(ErrorCode::kNoGpuEvents, "No GPU events found in the trace",
                "repeat without compat: the default also counts GPU work without launch arrows");
  }
  Timeline timeline = MakeTimeline(trace, made, options);
  // The reference takes the total from the table's milliseconds.
  if (tracelens && timeline.total_us) timeline.total_us = *timeline.total_us / 1000 * 1e3;
  std::vector<Table> tables;
  tables.push_back(std::move(timeline.table));
  if (made.attribution.cpu_ops || !tracelens) {
    tables.push_back(analysis::OpsSummaryByCategory(input));
    tables.push_back(analysis::OpsSummary(input));
    JV_TRY(job.Check());
    tables.push_back(analysis::OpsUniqueArgs(input, analysis::GroupUniqueArgs(input)));
  }
  JV_TRY(job.Check());
  if (options.kernel_summary) {
    tables.push_back(analysis::KernelSummary(input, timeline.total_us));
  }
  if (options.short_kernel_study) {
    tables.push_back(analysis::ShortKernelHistogram(input, options.short_kernels));
    Table summary = analysis::ShortKernelsSummary(input, options.short_kernels, timeline.total_us);
    if (tracelens) {
      compat::ShapeEmptyShortKernels(input, options.short_kernels.threshold_us, &summary);
    }
    tables.push_back(std::move(summary));
  }
  return tables;
}

}  // namespace

Result<std::vector<Table>> MakeReport(const LoadedTrace& trace, const ReportOptions& options,
                                      Job& job) {
  std::vector<char> recompute;
  const std::vector<char>* marks = options.detect_recompute ? &recompute : nullptr;
  if (options.compat == Compat::kTraceLens) {
    const analysis::Attribution attribution = compat::AttributeLikeTraceLens(
        trace.events(),
        {.include_unlinked_kernels = options.include_unlinked_kernels,
         .python_frames = options.detect_recompute},
        options.detect_recompute ? &recompute : nullptr);
    return MakeTables(trace, {attribution, compat::TraceLensRules(), marks}, options, job);
  }
  if (options.detect_recompute) recompute = tree::MarkRecompute(trace.events(), trace.tree());
  JV_ASSIGN(std::vector<Table> tables,
            MakeTables(trace, {trace.attribution(), {}, marks}, options, job));
  tables.push_back(CoverageTable(trace.coverage()));
  return tables;
}

Table CoverageTable(const analysis::Coverage& coverage) {
  Table table{"coverage", {"part", "gpu events", "time ms", "share of time (%)"}, {}};
  const auto add = [&](const char* part, const analysis::Coverage::Part& value, bool share) {
    const bool known = share && coverage.all.time_us > 0;
    table.rows.push_back({std::string(part), static_cast<std::int64_t>(value.count),
                          value.time_us / 1000,
                          known ? Cell(value.time_us / coverage.all.time_us * 100) : Cell()});
  };
  add("all GPU work", coverage.all, true);
  add("linked to a launch", coverage.linked, true);
  add("linked to an op", coverage.with_op, true);
  add("unlinked", coverage.unlinked, true);
  add("clipped (time cut off)", coverage.clipped, false);
  add("left out", coverage.left_out, false);
  return table;
}

}  // namespace jarvis::engine
