#include "findings/one/recorded_span.h"

#include <algorithm>
#include <limits>

namespace jarvis::findings {

std::optional<RecordedSpan> RecordedSpanOf(const session::LoadedTrace& trace) {
  const auto& recording = trace.trace().metadata.recording;
  if (!recording || !recording->begin_ns || !recording->end_ns) return std::nullopt;
  const trace::EventStore& events = trace.events();
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const trace::EventIndex e : trace.attribution().timeline)
    first = std::min(first, events[e].ts_ns);
  // What lies outside is of another clock.
  if (first < *recording->begin_ns || first > *recording->end_ns) return std::nullopt;
  RecordedSpan span;
  span.length_ms = static_cast<double>(*recording->end_ns - *recording->begin_ns) / 1e6;
  span.before_work_ms = static_cast<double>(first - *recording->begin_ns) / 1e6;
  span.start_up = recording->start_up;
  return span;
}

}  // namespace jarvis::findings
