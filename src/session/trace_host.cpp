#include "session/trace_host.h"

#include <algorithm>
#include <utility>

#include "session/loaded_trace.h"
#include "session/trace_frames.h"

namespace jarvis::session {
namespace {

struct HostKey {
  using Value = analysis::HostSummary;
  bool operator==(const HostKey&) const = default;
};

}  // namespace

Result<std::shared_ptr<const analysis::HostSummary>> HostOf(const LoadedTrace& trace,
                                                            const Job& job) {
  using Made = DerivedCache::Made<analysis::HostSummary>;
  return trace.derived().Get(HostKey{}, job, [&]() -> Result<Made> {
    analysis::HostInput input{trace.events(), trace.tree(), trace.track_names(), {}};
    JV_ASSIGN(const std::shared_ptr<const TraceFrames> frames, FramesOf(trace, job));
    const auto& steps = frames->frames.steps;
    const bool any_gpu = std::any_of(steps.begin(), steps.end(),
                                     [](const auto& step) { return step.gpu_events > 0; });
    for (const analysis::StepFrame& step : steps) {
      // What repeats without any work for the GPU, beside what has some, is no step of the host's.
      if (any_gpu && step.gpu_events == 0) continue;
      input.steps.push_back({step.host.start, step.host.end});
      input.odd.push_back(!step.steady);
    }
    JV_ASSIGN(analysis::HostSummary summary, analysis::SummariseHost(input, job));
    const std::size_t bytes = summary.MemoryBytes();
    return Made{std::make_shared<const analysis::HostSummary>(std::move(summary)), bytes};
  });
}

}  // namespace jarvis::session
