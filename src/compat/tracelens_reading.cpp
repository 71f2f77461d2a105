#include "compat/tracelens_reading.h"

#include <optional>
#include <utility>

#include "compat/move_backward_rows.h"
#include "compat/tracelens.h"
#include "compat/tracelens_tree.h"
#include "compat/tracelens_work.h"

namespace jarvis::compat {
namespace {

analysis::ReportCalls CallsOf(TraceLensWork work) {
  analysis::ReportCalls calls;
  calls.unified = std::make_shared<const std::vector<analysis::WorkCall>>(std::move(work.unified));
  for (TraceLensWork::Family& family : work.families) {
    calls.families.emplace_back(std::move(family.name), std::vector<const analysis::WorkCall*>());
    for (const analysis::WorkCall& call : family.calls)
      calls.families.back().second.push_back(&call);
    // The calls stay where they are when their vector is moved.
    calls.others.push_back(std::move(family.calls));
  }
  return calls;
}

}  // namespace

analysis::ReportReading TraceLensReading(const trace::EventStore& recorded,
                                         const analysis::ReadingOptions& options,
                                         std::span<const TraceLensCapture> captures) {
  std::optional<MergedCaptures> merged;
  if (options.inference) merged = MergeCaptures(recorded, captures);
  const bool added = merged && merged->events != nullptr;
  const trace::EventStore& events = added ? *merged->events : recorded;
  const TraceLensOptions how = {
      .include_unlinked_kernels = options.include_unlinked_kernels,
      .python_frames =
          merged || options.detect_recompute || options.include_call_stack ||
          (options.inference && (options.group_by_parent_module || options.beside_captures)),
      .pseudo_ops = options.pseudo_ops,
      .models = options.models.get()};
  const auto tree = std::make_shared<const TraceLensTree>(
      merged ? std::move(merged->tree) : BuildTraceLensTree(events, how.python_frames));
  analysis::ReportReading reading;
  if (added) reading.events = merged->events;
  std::shared_ptr<std::vector<char>> recompute;
  if (options.detect_recompute) recompute = std::make_shared<std::vector<char>>();
  reading.attribution = std::make_shared<const analysis::Attribution>(
      AttributeLikeTraceLens(events, *tree, how, recompute.get()));
  reading.recompute = recompute;
  reading.rules = TraceLensRules();
  if (options.models != nullptr) reading.rules.models = options.models.get();
  reading.overlap = TraceLensOverlapOptions();
  reading.parent = [tree](trace::EventIndex e) { return tree->parent[e]; };
  reading.caller = reading.parent;
  reading.python_frames = how.python_frames;
  reading.roof_rule = perf::RoofRule::kTraceLens;
  reading.needs_gpu_work = true;
  reading.needs_ops = true;
  reading.total_as_shown = true;
  reading.collectives_of_inference = false;  // P3: it cannot be asked for there
  reading.limits_rows = false;               // P1: the limits are read and not kept
  // P9: the frames are there for another reason.
  reading.stacks_in_kernel_cells = how.python_frames && !options.include_call_stack;
  reading.parts_repeat_callers = true;  // T16b
  reading.overlaps_of_launchers = true;
  reading.has_coverage = false;
  reading.calls = [&events, tree, attribution = reading.attribution, rows = reading.rules.models,
                   how,
                   inference = options.inference](const Job& job) -> Result<analysis::ReportCalls> {
    auto works = std::make_unique<analysis::OpWorks>(events, *rows, &job);
    analysis::ReportCalls calls = CallsOf(
        CollectTraceLensWork(events, *tree, *attribution, *works, {how.python_frames, inference}));
    JV_TRY(job.Check());
    calls.works = std::move(works);
    return calls;
  };
  reading.finish_families = [inference = options.inference](std::vector<Table>* families) {
    MoveBackwardRows(families, inference);
  };
  reading.finish_short_kernels = &ShapeEmptyShortKernels;
  return reading;
}

}  // namespace jarvis::compat
