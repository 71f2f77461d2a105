#include "analysis/frames/base_work.h"

#include <algorithm>
#include <utility>

namespace jarvis::analysis {

std::vector<EventIndex> LeftOutWork(const FrameFacts& facts, const TimeFrames& frames,
                                    TimeSpan host) {
  std::vector<EventIndex> left_out = frames.foreign;
  if (!frames.steps.empty()) {
    TimeSet kept, odd_gpu;
    if (!frames.apart()) kept.push_back(host);
    for (const StepFrame& step : frames.steps) {
      if (!frames.apart()) break;
      if (step.steady) {
        kept.push_back(step.host);
      } else if (step.gpu) {
        odd_gpu.push_back(*step.gpu);
      }
    }
    kept = Union(std::move(kept));
    odd_gpu = Union(std::move(odd_gpu));
    for (const LaunchedWork& work : facts.gpu) {
      const std::int64_t at = facts.events[work.event].ts_ns;
      const bool out = work.launch != trace::kNoEvent ? !Contains(kept, work.launch_ns)
                       : facts.host_events()          ? Contains(odd_gpu, at)
                                                      : !Contains(kept, at);
      if (out) left_out.push_back(work.event);
    }
  }
  std::sort(left_out.begin(), left_out.end());
  left_out.erase(std::unique(left_out.begin(), left_out.end()), left_out.end());
  return left_out;
}

}  // namespace jarvis::analysis
