#include "session/report.h"

#include <algorithm>
#include <iterator>

#include "analysis/frames/frame_tables.h"
#include "analysis/tables/collectives.h"
#include "base/parallel.h"
#include "ledger/books/ledger_rows.h"
#include "session/diff_report.h"
#include "session/mode.h"
#include "session/trace_bounds.h"
#include "session/trace_frames.h"
#include "session/work_report.h"

namespace jarvis::session {
namespace {

struct Timeline {
  Table table;
  std::optional<double> total_us;  // what percent columns of other tables refer to
};

Timeline MakeTimeline(const trace::EventStore& events, const analysis::ReportReading& reading,
                      const ReportOptions& options) {
  const auto compute = [&](std::span<const trace::EventIndex> work) {
    return analysis::ComputeGpuTimeline(events, work, reading.rules.clock,
                                        options.micro_idle_thresh_us,
                                        reading.rules.clock == analysis::Clock::kNanoseconds
                                            ? analysis::Communicators::kAll
                                            : analysis::Communicators::kCollectiveLibraries);
  };
  const auto total = [](const std::optional<analysis::GpuTimeline>& timeline) {
    return timeline ? std::optional(timeline->total) : std::nullopt;
  };
  if (reading.recompute == nullptr) {
    const auto timeline = compute(reading.attribution->timeline);
    return {analysis::GpuTimelineTable(timeline), total(timeline)};
  }
  std::vector<trace::EventIndex> parts[2];
  for (const trace::EventIndex e : reading.attribution->timeline) {
    parts[(*reading.recompute)[e] != 0 ? 1 : 0].push_back(e);
  }
  const auto first = compute(parts[0]);
  return {analysis::RecomputeTimelineTable(first, compute(parts[1])), total(first)};
}

// By launcher.
std::vector<analysis::Overlap> OverlapsOf(const trace::EventStore& events,
                                          const ReportParts& made) {
  const analysis::Attribution& attribution = *made.reading.attribution;
  std::vector<analysis::Overlap> result;
  result.reserve(attribution.launchers.size());
  for (const analysis::Launcher& launcher : attribution.launchers) {
    result.push_back(analysis::OverlapOf(events, *made.overlaps, attribution.KernelsOf(launcher),
                                         made.reading.rules));
  }
  return result;
}

// The tables about ops.
Result<void> AddOpsTables(const ReportParts& made, const ReportOptions& options,
                          analysis::TableInput input, Job& job, std::vector<Table>* tables) {
  analysis::LauncherModules modules;
  input.inference = options.inference;
  if (options.inference && options.group_by_parent_module) {
    modules = analysis::FindModules(input.events, *made.reading.attribution, made.reading.parent);
    input.modules = &modules;
  }
  analysis::UniqueArgsOptions unique;
  unique.num_kernels = options.group_by_num_kernels;
  unique.first_occurrence_time = options.include_first_occurrence_time;
  const auto unique_args = [&] {
    return analysis::OpsUniqueArgs(input, analysis::GroupUniqueArgs(input, unique), unique);
  };
  // The tables about work take as long as the others together.
  std::vector<Table> work_tables;
  Result<void> work;
  ParallelFor(2, 0, [&](std::size_t part) {
    if (part == 0) {
      work = AddWorkTables(made, options, input, job, &work_tables);
      return;
    }
    tables->push_back(analysis::OpsSummaryByCategory(input));
    tables->push_back(analysis::OpsSummary(input));
    tables->push_back(unique_args());
    if (options.include_overlap_info && job.Check()) {
      const std::vector<analysis::Overlap> overlaps = OverlapsOf(input.events, made);
      unique.overlaps = &overlaps;
      tables->push_back(unique_args());
    }
  });
  JV_TRY(work);
  JV_TRY(job.Check());
  for (Table& table : work_tables)
    tables->push_back(std::move(table));
  return {};
}

// The tables about the differences follow the one whose rows they explain.
void AddDiffTables(const AlignedTraces& aligned, std::vector<Table>* tables) {
  const auto unified = std::find_if(tables->begin(), tables->end(), [](const Table& table) {
    return table.name == "unified_perf_summary";
  });
  std::vector<Table> more = aligned.Tables();
  tables->insert(unified == tables->end() ? unified : unified + 1,
                 std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// The tables of kernels, whose shares are of the timeline's total.
void AddKernelTables(const analysis::TableInput& input, const analysis::ReportReading& reading,
                     const ReportOptions& options, const std::optional<double>& total_us,
                     std::vector<Table>* tables) {
  if (options.kernel_summary) tables->push_back(analysis::KernelSummary(input, total_us));
  if (!options.short_kernel_study) return;
  tables->push_back(analysis::ShortKernelHistogram(input, options.short_kernels));
  Table summary = analysis::ShortKernelsSummary(input, options.short_kernels, total_us);
  if (reading.finish_short_kernels) {
    reading.finish_short_kernels(input, options.short_kernels.threshold_us, &summary);
  }
  tables->push_back(std::move(summary));
}

// How much of the trace the tables are of, and its frames of time.
Result<void> AddCoverageTables(const LoadedTrace& trace, const LoadedTrace& recorded,
                               const ReportOptions& options, const Job& job,
                               std::vector<Table>* tables) {
  tables->push_back(CoverageTable(trace.coverage()));
  JV_ASSIGN(const auto frames, FramesOf(recorded, job));
  tables->push_back(analysis::TimeFramesTable(frames->frames));
  tables->push_back(analysis::TimePartsTable(frames->frames));
  tables->push_back(analysis::PhasesTable(frames->phases));
  const analysis::BaseOfTime& base = frames->frames.base;
  JV_ASSIGN(
      const ledger::Bounds bounds,
      BoundsOf(recorded, options.platform ? &*options.platform : nullptr, options.models, job));
  tables->push_back(ledger::LedgerTable(
      ledger::LedgerRows(recorded.events(), base, frames->books, bounds), base.count));
  if (!frames->iterations.empty()) tables->push_back(analysis::IterationsTable(frames->iterations));
  return {};
}

// The trace as the tables are about it: the report about inference is about ops of captures too.
const LoadedTrace& ReadOf(const LoadedTrace& trace, const ReportOptions& options) {
  const bool joins = options.inference && ModeOf(options.compat).joins_captures;
  return joins ? trace.WithCapture() : trace;
}

// `trace` is the recorded one or that with its capture; time is always that of the recording.
Result<std::vector<Table>> MakeTables(const LoadedTrace& trace, const LoadedTrace& recorded,
                                      const analysis::ReportReading& reading,
                                      const ReportOptions& options, Job& job) {
  const trace::EventStore& events = reading.events == nullptr ? trace.events() : *reading.events;
  ReportParts made{reading};
  std::unique_ptr<const AlignedTraces> aligned;
  analysis::ExtraColumns comparison;
  if (options.comparison != nullptr) {
    const LoadedTrace& other = ReadOf(*options.comparison, options);
    JV_ASSIGN(aligned, AlignLoaded(trace, other, options.compat,
                                   {reading.python_frames, options.inference}, job));
    comparison = aligned->Columns();
    made.comparison = &comparison;
  }
  const analysis::Attribution& attribution = *reading.attribution;
  analysis::Overlaps overlaps;
  if (options.include_overlap_info) {
    JV_ASSIGN(overlaps, analysis::FindOverlaps(events, attribution.timeline, reading.overlap, job));
    made.overlaps = &overlaps;
  }
  const std::vector<trace::TrackNames> names =
      reading.events == nullptr ? trace.track_names() : trace::ReadTrackNames(events);
  const analysis::TableInput input{events, names, attribution, reading.rules,
                                   reading.recompute.get()};
  if (attribution.timeline.empty() && reading.needs_gpu_work) {
    return Fail(ErrorCode::kNoGpuEvents, "No GPU events found in the trace",
                "repeat without compat: the default also counts GPU work without launch arrows");
  }
  Timeline timeline = MakeTimeline(events, reading, options);
  if (reading.total_as_shown && timeline.total_us) {
    timeline.total_us = *timeline.total_us / 1000 * 1e3;
  }
  std::vector<Table> tables;
  tables.push_back(std::move(timeline.table));
  const bool about_ops = attribution.cpu_ops || !reading.needs_ops;
  Result<void> ops;
  std::vector<Table> others;
  Result<void> other;
  RunBeside(
      [&] {
        if (about_ops) ops = AddOpsTables(made, options, input, job, &tables);
      },
      [&] {
        AddKernelTables(input, reading, options, timeline.total_us, &others);
        if (options.coll_analysis && about_ops &&
            (reading.collectives_of_inference || !options.inference)) {
          Table collectives = analysis::CollAnalysis(input, trace.trace().metadata.rank);
          if (!collectives.rows.empty()) others.push_back(std::move(collectives));
        }
        if (reading.has_coverage) other = AddCoverageTables(trace, recorded, options, job, &others);
      });
  JV_TRY(ops);
  JV_TRY(other);
  JV_TRY(job.Check());
  if (aligned != nullptr) AddDiffTables(*aligned, &tables);
  std::move(others.begin(), others.end(), std::back_inserter(tables));
  return tables;
}

}  // namespace

Result<std::vector<Table>> MakeReport(const LoadedTrace& trace, const ReportOptions& options,
                                      Job& job) {
  if (options.group_by_parent_module && !options.inference) {
    return Fail(ErrorCode::kBadValue, "group_by_parent_module is an option of the inference report",
                "add inference: true");
  }
  const analysis::ReadingOptions asked = {
      .include_unlinked_kernels = options.include_unlinked_kernels,
      .detect_recompute = options.detect_recompute,
      .pseudo_ops = options.pseudo_ops,
      .include_call_stack = options.include_call_stack,
      .inference = options.inference,
      .beside_captures = options.comparison != nullptr && !options.comparison->captures().empty(),
      .group_by_parent_module = options.group_by_parent_module,
      .include_overlap_info = options.include_overlap_info,
      .models = options.models};
  if (const auto of_profile = ModeOf(options.compat).report_of_profile) {
    std::vector<Table> tables = of_profile(trace);
    if (!tables.empty()) return tables;
  }
  const LoadedTrace& read = ReadOf(trace, options);
  return MakeTables(read, trace, ModeOf(options.compat).read(read, asked), options, job);
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

}  // namespace jarvis::session
