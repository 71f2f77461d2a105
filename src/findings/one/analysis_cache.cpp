#include "findings/one/analysis_cache.h"

#include <utility>
#include <variant>

#include "base/memory_size.h"
#include "findings/one/wall_plan.h"

namespace jarvis::findings {
namespace {

struct AnalysisKey {
  using Value = Analysis;
  std::optional<perf::Platform> platform;
  AnalysisOptions options;
  bool operator==(const AnalysisKey&) const = default;
};

std::size_t BytesOf(const std::vector<Fact>& facts) {
  std::size_t bytes = HeapBytes(facts);
  for (const Fact& fact : facts) {
    const auto* text = std::get_if<std::string>(&fact.value);
    bytes += HeapBytes(fact.key) + (text == nullptr ? 0 : HeapBytes(*text));
  }
  return bytes;
}

std::size_t BytesOf(const std::vector<PatternHit>& patterns) {
  std::size_t bytes = HeapBytes(patterns);
  for (const PatternHit& hit : patterns)
    bytes += BytesOf(hit.facts);
  return bytes;
}

// What an operation owns; itself it lies in a list.
std::size_t BytesOf(const Operation& o) {
  std::size_t bytes = HeapBytes(o.gpu) + HeapBytes(o.call_chain) + BytesOf(o.patterns) +
                      BytesOf(o.details) + HeapBytes(o.kernels);
  for (const std::string* text :
       {&o.id, &o.name, &o.dims, &o.types, &o.strides, &o.concrete, &o.args, &o.parameters,
        &o.model_failure, &o.library, &o.entry_point, &o.module_path, &o.classification,
        &o.efficiency.spec, &o.efficiency.peak_source, &o.efficiency.assumption})
    bytes += HeapBytes(*text);
  for (const KernelShare& kernel : o.kernels)
    bytes += HeapBytes(kernel.name);
  if (o.cause) bytes += BytesOf(o.cause->facts) + HeapBytes(o.cause->gpu);
  return bytes;
}

std::size_t BytesOf(const std::vector<Finding>& findings) {
  std::size_t bytes = HeapBytes(findings);
  for (const Finding& f : findings) {
    if (f.way != nullptr) bytes += sizeof(WayOut) + analysis::MemoryOf(f.way->changes);
    bytes += HeapBytes(f.members) + HeapBytes(f.row_ids) + HeapBytes(f.module_paths) +
             HeapBytes(f.overlaps_with) + BytesOf(f.evidence) + BytesOf(f.patterns) +
             HeapBytes(f.subject) + HeapBytes(f.subject_args);
  }
  return bytes;
}

// What grows with the trace; the rest is a few kilobytes.
std::size_t BytesOf(const Analysis& analysis) {
  std::size_t bytes = sizeof(analysis) + BytesOf(analysis.findings) +
                      HeapBytes(analysis.baseline.operations) + HeapBytes(analysis.baseline.rows) +
                      HeapBytes(analysis.workload.module_classes);
  for (const CategoryAnalysis& category : analysis.categories) {
    bytes += sizeof(category) + BytesOf(category.findings) + HeapBytes(category.anomalies) +
             HeapBytes(category.operations);
    for (const Operation& operation : category.operations)
      bytes += BytesOf(operation);
  }
  for (const Quality& one : analysis.quality)
    bytes += sizeof(one) + HeapBytes(one.text) + HeapBytes(one.consequence);
  for (const Gap& gap : analysis.idle.gaps) {
    bytes += sizeof(gap) + HeapBytes(gap.previous_op) + HeapBytes(gap.previous_kernel) +
             HeapBytes(gap.next_op) + HeapBytes(gap.next_kernel) + HeapBytes(gap.module_path) +
             HeapBytes(gap.dominant) + HeapBytes(gap.call_stack);
  }
  for (const FusionCandidate& candidate : analysis.fusion.candidates) {
    bytes += sizeof(candidate) + HeapBytes(candidate.operations) + HeapBytes(candidate.gpu);
    for (const FusionKernel& kernel : candidate.kernels)
      bytes += sizeof(kernel) + HeapBytes(kernel.name) + HeapBytes(kernel.op);
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
