#include "engine/report.h"

#include "compat/tracelens.h"

namespace jarvis::engine {
namespace {

struct Made {
  const analysis::Attribution& attribution;
  analysis::TableRules rules;
};

Result<std::vector<Table>> MakeTables(const LoadedTrace& trace, const Made& made,
                                      const ReportOptions& options, Job& job) {
  const bool tracelens = options.compat == Compat::kTraceLens;
  const analysis::TableInput input{trace.events(), trace.track_names(), made.attribution,
                                   made.rules};
  const auto timeline = analysis::ComputeGpuTimeline(
      trace.events(), made.attribution.timeline, made.rules.clock, options.micro_idle_thresh_us);
  if (!timeline && tracelens) {
    return Fail(ErrorCode::kNoGpuEvents, "No GPU events found in the trace",
                "repeat without compat: the default also counts GPU work without launch arrows");
  }
  // The reference takes the total from the table's milliseconds.
  const std::optional<double> total_us =
      timeline ? std::optional(tracelens ? timeline->total / 1000 * 1e3 : timeline->total)
               : std::nullopt;
  std::vector<Table> tables;
  tables.push_back(analysis::GpuTimelineTable(timeline));
  if (made.attribution.cpu_ops || !tracelens) {
    tables.push_back(analysis::OpsSummaryByCategory(input));
    tables.push_back(analysis::OpsSummary(input));
    JV_TRY(job.Check());
    tables.push_back(analysis::OpsUniqueArgs(input, analysis::GroupUniqueArgs(input)));
  }
  JV_TRY(job.Check());
  if (options.kernel_summary) tables.push_back(analysis::KernelSummary(input, total_us));
  if (options.short_kernel_study) {
    tables.push_back(analysis::ShortKernelHistogram(input, options.short_kernels));
    Table summary = analysis::ShortKernelsSummary(input, options.short_kernels, total_us);
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
  if (options.compat == Compat::kTraceLens) {
    const analysis::Attribution attribution = compat::AttributeLikeTraceLens(
        trace.events(), {.include_unlinked_kernels = options.include_unlinked_kernels});
    return MakeTables(trace, {attribution, compat::TraceLensRules()}, options, job);
  }
  JV_ASSIGN(std::vector<Table> tables, MakeTables(trace, {trace.attribution(), {}}, options, job));
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
