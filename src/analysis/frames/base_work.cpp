#include "analysis/frames/base_work.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace jarvis::analysis {
namespace {

bool HoldsTime(const TimeSet& set, std::int64_t at) {
  const auto after = std::partition_point(set.begin(), set.end(),
                                          [&](const TimeSpan& span) { return span.start <= at; });
  return after != set.begin() && at < std::prev(after)->end;
}

}  // namespace

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
      const bool out = work.launch != trace::kNoEvent ? !HoldsTime(kept, work.launch_ns)
                       : facts.host_events()          ? HoldsTime(odd_gpu, at)
                                                      : !HoldsTime(kept, at);
      if (out) left_out.push_back(work.event);
    }
  }
  std::sort(left_out.begin(), left_out.end());
  left_out.erase(std::unique(left_out.begin(), left_out.end()), left_out.end());
  return left_out;
}

TimeSet HostOwnTime(const FrameFacts& facts) {
  constexpr std::int64_t kTimes = 8;
  constexpr std::int64_t kMostNs = 1'000'000;
  std::vector<std::int64_t> spacings;
  for (std::size_t i = 1; i < facts.launched.size(); ++i)
    spacings.push_back(facts.launched[i].launch_ns - facts.launched[i - 1].launch_ns);
  const std::int64_t most = std::min(kMostNs, kTimes * MedianOf(std::move(spacings)).value_or(0));
  TimeSet ops = facts.in_ops;
  for (const EventIndex e : facts.on_thread) {
    const std::string_view name = facts.events.name(e);
    if (name.starts_with("enumerate(DataLoader)") &&
        name.find("MultiProcess") == std::string_view::npos)
      ops.push_back({facts.events[e].ts_ns, facts.events[e].end_ns()});
  }
  if (ops.size() > facts.in_ops.size()) ops = Union(std::move(ops));
  TimeSet busy;
  for (const TimeSpan& piece : ops) {
    if (!busy.empty() && piece.start - busy.back().end < most) {
      busy.back().end = piece.end;
    } else {
      busy.push_back(piece);
    }
  }
  TimeSet waits = facts.in_calls_that_wait;
  waits.insert(waits.end(), facts.in_full_queue.begin(), facts.in_full_queue.end());
  return Subtract(busy, Union(std::move(waits)));
}

}  // namespace jarvis::analysis
