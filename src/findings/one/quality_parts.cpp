#include "findings/one/quality_parts.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "findings/one/step_base.h"
#include "session/trace_frames.h"

namespace jarvis::findings {

TimeBase TimeBaseOf(const session::LoadedTrace& trace) {
  // Nobody can stop this one, so that it cannot fail.
  const auto found = session::FramesOf(trace, Job()).value();
  const StepBase base = StepBaseOf(found->frames, 1);
  const std::string name = base.unit == "recording" ? "trace" : base.count == 1 ? "step" : "steps";
  return {base.total_ms, name};
}

TimeBase RecordingOf(const session::LoadedTrace& trace) {
  const auto found = session::FramesOf(trace, Job()).value();
  const analysis::TimeFrames& frames = found->frames;
  return {static_cast<double>(frames.frame.end - frames.frame.start) / 1e6, "trace"};
}

TimeBase OnceBaseOf(const session::LoadedTrace& trace) {
  const auto found = session::FramesOf(trace, Job()).value();
  const analysis::TimeFrames& frames = found->frames;
  const bool apart = frames.apart() || frames.base.warm_estimated;
  return apart ? RecordingOf(trace) : TimeBaseOf(trace);
}

void SetTime(const TimeBase& base, double ms, double high_ms, Quality* quality) {
  quality->ms = ms;
  if (high_ms > ms) quality->ms_high = high_ms;
  if (base.ms <= 0) return;
  quality->percent = std::min(100.0, ms / base.ms * 100);
  if (high_ms > ms) quality->percent_high = std::min(100.0, high_ms / base.ms * 100);
  quality->base = base.name;
}

const char* PerUnit(const analysis::BaseOfTime& base) {
  return base.group.size > 1 ? " per group" : " per step";
}

std::string ShortNumber(double value) {
  const double size = std::abs(value);
  return fmt::format("{:.{}f}", value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

}  // namespace jarvis::findings
