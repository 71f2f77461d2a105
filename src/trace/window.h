// A part of a recording: what callers ask for, and where it lies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"

namespace jarvis::trace {

struct Survey;

// Which part to read, as a caller says it. Nothing said: all of the recording.
struct WindowRequest {
  std::string steps;              // "5-7" or "5": numbers of the profiler's steps
  std::optional<double> from_ms;  // since the recording's first event
  std::optional<double> to_ms;

  bool whole() const { return steps.empty() && !from_ms && !to_ms; }
  // The same text for the same request; empty for all of the recording.
  std::string Text() const;
};

// A part of a recording on the recording's own clock.
struct TraceWindow {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;  // the first moment that is outside
  std::int64_t recording_begin_ns = 0;
  std::int64_t recording_end_ns = 0;
  std::string steps;            // as asked for; empty: by time
  std::uint64_t events = 0;     // kept
  std::uint64_t text_read = 0;  // bytes of text gone through for it, all passes together

  // Whether an event has some of its time, or its moment, in the window.
  bool Overlaps(std::int64_t ts_ns, std::int64_t end) const {
    return ts_ns < end_ns && (end > begin_ns || ts_ns >= begin_ns);
  }
  // Since the recording's first event.
  double from_ms() const { return static_cast<double>(begin_ns - recording_begin_ns) / 1e6; }
  double to_ms() const { return static_cast<double>(end_ns - recording_begin_ns) / 1e6; }
  double recording_ms() const {
    return static_cast<double>(recording_end_ns - recording_begin_ns) / 1e6;
  }
};

// Where the part lies that is asked for. kBadValue: it says nothing that this recording has; the
// message tells what it has.
Result<TraceWindow> ResolveWindow(const WindowRequest& request, const Survey& survey);

}  // namespace jarvis::trace
