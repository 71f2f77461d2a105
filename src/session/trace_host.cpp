#include "session/trace_host.h"

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
    for (const analysis::StepFrame& step : frames->frames.steps) {
      input.steps.push_back({step.host.start, step.host.end});
      input.odd.push_back(!step.steady);
    }
    JV_ASSIGN(analysis::HostSummary summary, analysis::SummariseHost(input, job));
    const std::size_t bytes = summary.MemoryBytes();
    return Made{std::make_shared<const analysis::HostSummary>(std::move(summary)), bytes};
  });
}

}  // namespace jarvis::session
