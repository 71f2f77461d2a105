#include "findings/one/quality_parts.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "session/trace_frames.h"

namespace jarvis::findings {

TimeBase TimeBaseOf(const session::LoadedTrace& trace) {
  // Nobody can stop this one, so that it cannot fail.
  const auto found = session::FramesOf(trace, Job()).value();
  const analysis::TimeFrames& frames = found->frames;
  const std::string name = frames.steps.empty()       ? "trace"
                           : frames.steps.size() == 1 ? "step"
                                                      : "steps";
  return {static_cast<double>(frames.frame.end - frames.frame.start) / 1e6, name};
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
