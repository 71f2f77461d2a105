#include "findings/one/quality_parts.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace jarvis::findings {

TimeBase TimeBaseOf(const session::LoadedTrace& trace) {
  std::int64_t length = 0;
  for (const analysis::Step& step : trace.steps())
    length += step.end_ns - step.start_ns;
  if (length > 0)
    return {static_cast<double>(length) / 1e6, trace.steps().size() == 1 ? "step" : "steps"};
  const trace::EventStore& events = trace.events();
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool any = false;
  const auto add = [&](trace::EventIndex e) {
    begin = any ? std::min(begin, events[e].ts_ns) : events[e].ts_ns;
    end = any ? std::max(end, events[e].end_ns()) : events[e].end_ns();
    any = true;
  };
  for (const trace::EventIndex e : trace.tree().preorder())
    add(e);
  for (const trace::EventIndex e : trace.attribution().timeline)
    add(e);
  return {static_cast<double>(end - begin) / 1e6, "trace"};
}

void SetTime(const TimeBase& base, double ms, double high_ms, Quality* quality) {
  quality->ms = ms;
  if (high_ms > ms) quality->ms_high = high_ms;
  if (base.ms <= 0) return;
  quality->percent = ms / base.ms * 100;
  if (high_ms > ms) quality->percent_high = high_ms / base.ms * 100;
  quality->base = base.name;
}

std::string ShortNumber(double value) {
  const double size = std::abs(value);
  return fmt::format("{:.{}f}", value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

}  // namespace jarvis::findings
