#include "findings/one/analysis_cache.h"

#include <span>
#include <utility>
#include <variant>

#include "findings/one/wall_plan.h"

namespace jarvis::findings {
namespace {

struct AnalysisKey {
  using Value = Analysis;
  std::optional<perf::Platform> platform;
  AnalysisOptions options;
  bool operator==(const AnalysisKey&) const = default;
};

std::size_t BytesOf(const std::string& text) {
  return sizeof(text) + text.capacity();
}

std::size_t BytesOf(const std::vector<std::string>& texts) {
  std::size_t bytes = 0;
  for (const std::string& text : texts)
    bytes += BytesOf(text);
  return bytes;
}

std::size_t BytesOf(const std::vector<trace::EventIndex>& events) {
  return events.capacity() * sizeof(trace::EventIndex);
}

std::size_t BytesOf(const Operation& o) {
  std::size_t bytes = sizeof(o) + BytesOf(o.gpu) + BytesOf(o.call_chain) +
                      o.patterns.capacity() * sizeof(PatternHit) +
                      o.details.capacity() * sizeof(Fact);
  for (const std::string* text : {&o.name, &o.dims, &o.types, &o.strides, &o.concrete, &o.args,
                                  &o.parameters, &o.model_failure, &o.entry_point, &o.module_path})
    bytes += text->capacity();
  for (const KernelShare& kernel : o.kernels)
    bytes += sizeof(kernel) + kernel.name.capacity();
  return bytes;
}

std::size_t BytesOf(const std::vector<Finding>& findings) {
  std::size_t bytes = 0;
  for (const Finding& f : findings) {
    if (f.way != nullptr) bytes += sizeof(WayOut) + analysis::MemoryOf(f.way->changes);
    bytes += sizeof(f) + BytesOf(f.members) + BytesOf(f.row_ids) + BytesOf(f.module_paths) +
             BytesOf(f.overlaps_with) + f.evidence.capacity() * sizeof(Fact) +
             f.subject.capacity() + f.subject_args.capacity();
  }
  return bytes;
}

// What grows with the trace; the rest is a few kilobytes.
std::size_t BytesOf(const Analysis& analysis) {
  std::size_t bytes = sizeof(analysis) + BytesOf(analysis.findings) +
                      BytesOf(analysis.baseline.operations) +
                      analysis.baseline.rows.capacity() * sizeof(Baseline::Row) +
                      BytesOf(analysis.workload.module_classes);
  for (const CategoryAnalysis& category : analysis.categories) {
    bytes += sizeof(category) + BytesOf(category.findings) +
             category.anomalies.capacity() * sizeof(Anomaly);
    for (const Operation& operation : category.operations)
      bytes += BytesOf(operation);
  }
  for (const Quality& one : analysis.quality)
    bytes += sizeof(one) + one.text.capacity() + one.consequence.capacity();
  for (const Gap& gap : analysis.idle.gaps) {
    bytes += sizeof(gap) + gap.previous_kernel.capacity() + gap.next_kernel.capacity() +
             gap.module_path.capacity() + BytesOf(gap.call_stack);
  }
  for (const FusionCandidate& candidate : analysis.fusion.candidates) {
    bytes += sizeof(candidate) + BytesOf(candidate.operations) + BytesOf(candidate.gpu);
    for (const FusionKernel& kernel : candidate.kernels)
      bytes += sizeof(kernel) + kernel.name.capacity() + kernel.op.capacity();
  }
  return bytes;
}

}  // namespace

Result<std::shared_ptr<const Analysis>> AnalysisOf(const session::LoadedTrace& trace,
                                                   const perf::Platform* platform,
                                                   const AnalysisOptions& options, Job& job) {
  const AnalysisKey key{platform == nullptr ? std::nullopt : std::optional(*platform), options};
  using Made = session::DerivedCache::Made<Analysis>;
  return trace.derived().Get(key, job, [&]() -> Result<Made> {
    JV_ASSIGN(Analysis analysis, Analyze(trace, platform, options, job));
    auto shared = std::make_shared<const Analysis>(std::move(analysis));
    const std::size_t bytes = BytesOf(*shared);
    return Made{std::move(shared), bytes};
  });
}

}  // namespace jarvis::findings
