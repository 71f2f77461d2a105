#include "session/report.h"

#include <algorithm>
#include <iterator>

#include "analysis/tables/collectives.h"
#include "base/parallel.h"
#include "compat/tracelens.h"
#include "session/diff_report.h"
#include "session/work_report.h"
#include "tree/recompute.h"

namespace jarvis::session {
namespace {

struct Timeline {
  Table table;
  std::optional<double> total_us;  // what percent columns of other tables refer to
};

Timeline MakeTimeline(const LoadedTrace& trace, const ReportParts& made,
                      const ReportOptions& options) {
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

// By launcher.
std::vector<analysis::Overlap> OverlapsOf(const LoadedTrace& trace, const ReportParts& made) {
  const analysis::Attribution& attribution = made.attribution;
  std::vector<analysis::Overlap> result;
  result.reserve(attribution.launchers.size());
  for (const analysis::Launcher& launcher : attribution.launchers) {
    result.push_back(analysis::OverlapOf(trace.events(), *made.overlaps,
                                         attribution.KernelsOf(launcher), made.rules));
  }
  return result;
}

// The tables about ops.
Result<void> AddOpsTables(const LoadedTrace& trace, const ReportParts& made,
                          const ReportOptions& options, analysis::TableInput input, Job& job,
                          std::vector<Table>* tables) {
  analysis::LauncherModules modules;
  input.inference = options.inference;
  if (options.inference && options.group_by_parent_module) {
    modules = analysis::FindModules(trace.events(), made.attribution, made.parent);
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
      work = AddWorkTables(trace, made, options, input, job, &work_tables);
      return;
    }
    tables->push_back(analysis::OpsSummaryByCategory(input));
    tables->push_back(analysis::OpsSummary(input));
    tables->push_back(unique_args());
    if (options.include_overlap_info && job.Check()) {
      const std::vector<analysis::Overlap> overlaps = OverlapsOf(trace, made);
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

Result<std::vector<Table>> MakeTables(const LoadedTrace& trace, ReportParts made,
                                      const ReportOptions& options, Job& job) {
  std::unique_ptr<const AlignedTraces> aligned;
  analysis::ExtraColumns comparison;
  if (options.comparison != nullptr) {
    JV_ASSIGN(aligned,
              AlignLoaded(trace, *options.comparison, options.compat, made.python_frames, job));
    comparison = aligned->Columns();
    made.comparison = &comparison;
  }
  analysis::Overlaps overlaps;
  if (options.include_overlap_info) {
    JV_ASSIGN(overlaps,
              analysis::FindOverlaps(trace.events(), made.attribution.timeline, made.overlap, job));
    made.overlaps = &overlaps;
  }
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
  const bool about_ops = made.attribution.cpu_ops || !tracelens;
  if (about_ops) JV_TRY(AddOpsTables(trace, made, options, input, job, &tables));
  JV_TRY(job.Check());
  if (aligned != nullptr) AddDiffTables(*aligned, &tables);
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
  // P3: the reference cannot be asked for it in the report about inference.
  if (options.coll_analysis && about_ops && !(tracelens && options.inference)) {
    Table collectives = analysis::CollAnalysis(input, trace.trace().metadata.rank);
    if (!collectives.rows.empty()) tables.push_back(std::move(collectives));
  }
  return tables;
}

Result<std::vector<Table>> MakeLikeTraceLens(const LoadedTrace& trace, const ReportOptions& options,
                                             Job& job) {
  const trace::EventStore& events = trace.events();
  const compat::TraceLensOptions how = {
      .include_unlinked_kernels = options.include_unlinked_kernels,
      .python_frames = options.detect_recompute || options.include_call_stack ||
                       (options.inference && options.group_by_parent_module),
      .pseudo_ops = options.pseudo_ops,
      .models = options.models.get()};
  const compat::TraceLensTree tree = compat::BuildTraceLensTree(events, how.python_frames);
  std::vector<char> recompute;
  std::vector<char>* marks = options.detect_recompute ? &recompute : nullptr;
  const analysis::Attribution attribution =
      compat::AttributeLikeTraceLens(events, tree, how, marks);
  analysis::TableRules rules = compat::TraceLensRules();
  if (options.models != nullptr) rules.models = options.models.get();
  const auto parent = [&](trace::EventIndex e) { return tree.parent[e]; };
  return MakeTables(trace,
                    {.attribution = attribution,
                     .rules = rules,
                     .recompute = marks,
                     .overlap = compat::TraceLensOverlapOptions(),
                     .parent = parent,
                     .caller = parent,
                     .reference_tree = &tree,
                     .python_frames = how.python_frames},
                    options, job);
}

}  // namespace

Result<std::vector<Table>> MakeReport(const LoadedTrace& trace, const ReportOptions& options,
                                      Job& job) {
  if (options.group_by_parent_module && !options.inference) {
    return Fail(ErrorCode::kBadValue, "group_by_parent_module is an option of the inference report",
                "add inference: true");
  }
  if (options.compat == Compat::kTraceLens) return MakeLikeTraceLens(trace, options, job);
  std::vector<char> recompute;
  if (options.detect_recompute) recompute = tree::MarkRecompute(trace.events(), trace.tree());
  std::optional<analysis::Attribution> with_pseudo_ops;
  std::shared_ptr<const TraceWork> work;  // shared with all others who ask for it
  if (options.pseudo_ops) {
    with_pseudo_ops = analysis::Attribute(
        trace.events(), trace.tree(), analysis::FindPseudoOps(trace.events(), trace.tree()),
        options.models != nullptr ? *options.models : perf::BuiltinRows());
  } else {
    JV_ASSIGN(work, WorkOf(trace, options.models, job));
  }
  const analysis::Attribution& attribution = with_pseudo_ops     ? *with_pseudo_ops
                                             : work->attribution ? *work->attribution
                                                                 : trace.attribution();
  std::vector<trace::EventIndex> op_of;  // by event
  if (options.include_overlap_info) {
    op_of.assign(trace.events().size(), trace::kNoEvent);
    for (const analysis::KernelPlace& place : attribution.places)
      op_of[place.kernel] = place.op;
  }
  // Backward work belongs to the module of its forward op.
  const auto parent = [&](trace::EventIndex e) {
    const trace::EventIndex forward = trace.tree().ForwardOf(e);
    return forward != trace::kNoEvent ? forward : trace.tree().parent(e);
  };
  analysis::TableRules rules;
  if (options.models != nullptr) rules.models = options.models.get();
  JV_ASSIGN(std::vector<Table> tables,
            MakeTables(trace,
                       {.attribution = attribution,
                        .rules = rules,
                        .recompute = options.detect_recompute ? &recompute : nullptr,
                        .overlap = {.op_of = op_of},
                        .parent = parent,
                        .caller = [&](trace::EventIndex e) { return trace.tree().parent(e); },
                        .work = work.get()},
                       options, job));
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

}  // namespace jarvis::session
