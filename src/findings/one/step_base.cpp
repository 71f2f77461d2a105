#include "findings/one/step_base.h"

#include <algorithm>

namespace jarvis::findings {

StepBase StepBaseOf(const analysis::TimeFrames& frames, std::size_t repeats) {
  StepBase base;
  base.balance = frames.steady;
  base.total_ms = static_cast<double>(frames.steady.own_ns()) / 1e6;
  if (!frames.steps.empty())
    base.unit = frames.base.group.size > 1 ? "group" : analysis::TimeUnitText(frames.base.unit);
  else if (frames.base.warm_estimated)
    base.unit = "warm pass";
  base.count = frames.base_steps();
  if (base.count == 1 && repeats > 1) {
    base.unit = "iteration";
    base.count = repeats;
  }
  return base;
}

double UnrecordedInWindowUs(const session::LoadedTrace& trace,
                            const IntervalSet<std::int64_t>& unrecorded) {
  const trace::EventStore& events = trace.events();
  const auto& work = trace.attribution().timeline;
  if (work.empty() || unrecorded.empty()) return 0;
  std::int64_t first = events[work.front()].ts_ns;
  std::int64_t last = first;
  for (const trace::EventIndex e : work) {
    first = std::min(first, events[e].ts_ns);
    last = std::max(last, events[e].end_ns());
  }
  return trace::MicrosOf(Length(analysis::Within(unrecorded, {first, last})));
}

}  // namespace jarvis::findings
