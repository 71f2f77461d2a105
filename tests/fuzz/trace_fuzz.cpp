// Any bytes as a trace, through everything that is computed from one. The first byte chooses how
// the bytes are handed out.
#include <cstdint>
#include <string>

#include "analysis/attribution/gpu_timeline.h"
#include "analysis/attribution/module_paths.h"
#include "analysis/tables/collectives.h"
#include "analysis/tables/kernel_tables.h"
#include "analysis/tables/summary.h"
#include "compat/tracelens.h"
#include "fuzz/require.h"
#include "support/memory_source.h"
#include "trace/reader.h"
#include "tree/build.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace jarvis {
namespace {

using testing::Require;

void MakeTables(const trace::Trace& trace, const analysis::Attribution& attribution,
                const analysis::TableRules& rules) {
  const analysis::TableInput input{trace.events, trace.track_names, attribution, rules};
  const auto timeline = ComputeGpuTimeline(trace.events, attribution.timeline, rules.clock);
  static_cast<void>(OpsSummary(input));
  static_cast<void>(OpsSummaryByCategory(input));
  static_cast<void>(OpsUniqueArgs(input, GroupUniqueArgs(input)));
  static_cast<void>(CollAnalysis(input, {}));
  static_cast<void>(KernelSummary(input, {}));
  static_cast<void>(ShortKernelHistogram(input, {}));
  static_cast<void>(ShortKernelsSummary(input, {}, {}));
  if (timeline) Require(timeline->busy >= 0 && timeline->busy <= timeline->total * 1.0000001 + 1);
}

// What the report has on request: overlap, modules, pseudo-ops.
void MakeMore(const trace::Trace& trace, const analysis::Attribution& attribution,
              const analysis::TableRules& rules, const analysis::OverlapOptions& options,
              const analysis::ParentFunction& parent) {
  Job job;
  const auto found = FindOverlaps(trace.events, attribution.timeline, options, job);
  Require(found.has_value());
  std::vector<analysis::Overlap> overlaps;
  for (const analysis::Launcher& launcher : attribution.launchers) {
    overlaps.push_back(OverlapOf(trace.events, *found, attribution.KernelsOf(launcher), rules));
  }
  const analysis::LauncherModules modules = FindModules(trace.events, attribution, parent);
  analysis::TableInput input{trace.events, trace.track_names, attribution, rules};
  input.inference = true;
  input.modules = &modules;
  const analysis::UniqueArgsOptions unique{
      .num_kernels = true, .first_occurrence_time = true, .overlaps = &overlaps};
  static_cast<void>(OpsSummary(input));
  static_cast<void>(OpsUniqueArgs(input, GroupUniqueArgs(input, unique), unique));
}

void Analyse(const trace::Trace& trace) {
  Job job;
  const auto tree = tree::BuildTree(trace.events, 1, job);
  Require(tree.has_value());
  const analysis::Attribution attribution = analysis::Attribute(trace.events, *tree);
  MakeTables(trace, attribution, {});
  MakeTables(trace, compat::AttributeLikeTraceLens(trace.events, {.python_frames = true}),
             compat::TraceLensRules());
  MakeMore(trace, Attribute(trace.events, *tree, analysis::FindPseudoOps(trace.events, *tree)), {},
           {}, [&](trace::EventIndex e) { return tree->parent(e); });
  const compat::TraceLensTree compatible = compat::BuildTraceLensTree(trace.events, true);
  MakeMore(trace,
           compat::AttributeLikeTraceLens(trace.events, compatible,
                                          {.python_frames = true, .pseudo_ops = true}),
           compat::TraceLensRules(), compat::TraceLensOverlapOptions(),
           [&](trace::EventIndex e) { return compatible.parent[e]; });
  const auto steps = analysis::FindSteps(trace.events, *tree);
  const analysis::SummaryInput input{trace.events, *tree, trace.track_names, attribution, steps};
  const analysis::Summary kernels = Summarize(input, analysis::GroupBy::kKernel);
  std::size_t events = 0;
  for (const analysis::SummaryRow& row : kernels.rows)
    events += row.gpu.size();
  Require(events == attribution.timeline.size());
  static_cast<void>(Summarize(input, analysis::GroupBy::kModule));
}

}  // namespace
}  // namespace jarvis

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t pieces[] = {std::string::npos, 1, 3, 64};
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  jarvis::Job job;
  jarvis::testing::MemorySource whole(text);
  jarvis::testing::MemorySource cut(text, pieces[data[0] % 4]);
  const auto read = jarvis::trace::ReadTrace(whole, {.threads = 1}, job);
  const auto again = jarvis::trace::ReadTrace(cut, {.threads = 1}, job);
  if (!read) {
    jarvis::Require(!read.error().message.empty());
    return 0;
  }
  // Of text that is no JSON the decoder may make other events when it is cut elsewhere; where the
  // elements are, and whether the end is missing, does not depend on it.
  if (again) {
    jarvis::Require(read->events.elements == again->events.elements);
    jarvis::Require(read->damage == again->damage);
  }
  jarvis::Analyse(*read);
  return 0;
}
