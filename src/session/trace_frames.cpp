#include "session/trace_frames.h"

#include <optional>
#include <utility>

#include "base/parallel.h"
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
    auto made = std::make_shared<TraceFrames>();
    std::optional<analysis::FrameFacts> facts;
    // What names of kernels mean takes some milliseconds when it is asked first.
    RunBeside(
        [&] {
          facts.emplace(
              analysis::CollectFrameFacts({trace.events(), trace.tree(), trace.attribution()}));
          made->frames = analysis::MakeTimeFrames(*facts);
        },
        [&] {
          made->kinds = std::make_shared<const ledger::KindsOfWork>(trace.events(), trace.tree());
        });
    JV_TRY(job.Check());
    RunBeside(
        [&] {
          made->phases = analysis::MakePhases(*facts, made->frames);
          made->iterations = analysis::FindIterations(*facts);
          if (made->iterations.empty())
            made->repeats = analysis::FindRepeats(*facts, made->frames, made->phases);
        },
        [&] { made->books = ledger::KeepBooks(*facts, made->frames.base, *made->kinds); });
    JV_TRY(job.Check());
    const std::size_t bytes =
        made->frames.MemoryBytes() + made->phases.MemoryBytes() +
        (made->iterations.capacity() + made->repeats.capacity()) * sizeof(analysis::Iteration);
    return DerivedCache::Made<TraceFrames>{std::move(made), bytes};
  });
}

}  // namespace jarvis::session
