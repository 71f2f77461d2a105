#include "session/trace_frames.h"

#include <utility>

#include "session/loaded_trace.h"

namespace jarvis::session {
namespace {

struct FramesKey {
  using Value = TraceFrames;
  bool operator==(const FramesKey&) const = default;
};

}  // namespace

Result<std::shared_ptr<const TraceFrames>> FramesOf(const LoadedTrace& trace, const Job& job) {
  return trace.derived().Get(FramesKey{}, job, [&]() -> Result<DerivedCache::Made<TraceFrames>> {
    const analysis::FrameFacts facts =
        analysis::CollectFrameFacts({trace.events(), trace.tree(), trace.attribution()});
    auto made = std::make_shared<TraceFrames>();
    made->frames = analysis::MakeTimeFrames(facts);
    JV_TRY(job.Check());
    made->phases = analysis::MakePhases(facts, made->frames);
    made->iterations = analysis::FindIterations(facts);
    if (made->iterations.empty())
      made->repeats = analysis::FindRepeats(facts, made->frames, made->phases);
    made->books = ledger::KeepBooks(facts, made->frames.base,
                                    ledger::KindsOfWork(trace.events(), trace.tree()));
    JV_TRY(job.Check());
    const std::size_t bytes =
        made->frames.MemoryBytes() + made->phases.MemoryBytes() +
        (made->iterations.capacity() + made->repeats.capacity()) * sizeof(analysis::Iteration);
    return DerivedCache::Made<TraceFrames>{std::move(made), bytes};
  });
}

}  // namespace jarvis::session
