#include "session/trace_work.h"

#include <utility>

#include "base/memory_size.h"
#include "session/loaded_trace.h"

namespace jarvis::session {
namespace {

struct WorkKey {
  using Value = TraceWork;
  std::shared_ptr<const perf::ModelRows> models;
  bool operator==(const WorkKey&) const = default;
};

std::size_t BytesOf(const analysis::Attribution& attribution) {
  return attribution.timeline.size() * sizeof(trace::EventIndex) +
         attribution.kernels.size() * sizeof(trace::EventIndex) +
         attribution.launchers.size() * sizeof(analysis::Launcher) +
         attribution.places.size() * sizeof(analysis::KernelPlace);
}

std::size_t BytesOf(const TraceWork& work) {
  std::size_t bytes = sizeof(work);
  if (work.attribution != nullptr) bytes += BytesOf(*work.attribution);
  for (const perf::OpWork& one : work.works) {
    bytes += sizeof(one) + HeapBytes(one.spec) + HeapBytes(one.stage) + HeapBytes(one.reason) +
             HeapBytes(one.parameters);
    for (const perf::Parameter& parameter : one.parameters)
      bytes += HeapBytes(parameter.key) + HeapBytes(parameter.value.text);
  }
  bytes += HeapBytes(work.calls);
  for (const analysis::WorkCall& call : work.calls)
    bytes += HeapBytes(call.name) + HeapBytes(call.kernels);
  return bytes;
}

}  // namespace

Result<std::shared_ptr<const TraceWork>> WorkOf(
    const LoadedTrace& trace, const std::shared_ptr<const perf::ModelRows>& models,
    const Job& job) {
  return trace.derived().Get(WorkKey{models}, job, [&]() -> Result<DerivedCache::Made<TraceWork>> {
    auto work = std::make_shared<TraceWork>();
    work->models = models;
    if (models != nullptr) {
      work->attribution = std::make_unique<const analysis::Attribution>(
          analysis::Attribute(trace.events(), trace.tree(), analysis::PseudoOps(), *models));
    }
    analysis::OpWorks evaluated(trace.events(), work->rows(), &job);
    work->calls = analysis::CollectWorkCalls(
        {trace.events(), trace.tree(), work->attribution ? *work->attribution : trace.attribution(),
         evaluated});
    work->works = std::move(evaluated).TakeWorks();
    JV_TRY(job.Check());
    const std::size_t bytes = BytesOf(*work);
    return DerivedCache::Made<TraceWork>{std::move(work), bytes};
  });
}

}  // namespace jarvis::session
