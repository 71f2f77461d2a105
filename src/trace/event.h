// One event of a trace, as every later stage sees it.
#pragma once

#include <cstdint>
#include <limits>

#include "base/string_pool.h"

namespace jarvis::trace {

// Index into EventStore's events, in file order. (The position in traceEvents is Event::uid.)
using EventIndex = std::uint32_t;
inline constexpr EventIndex kNoEvent = 0xFFFFFFFFu;

// What an event is, whatever its producer calls it; dialect.cpp maps categories to kinds.
enum class EventKind : std::uint8_t {
  kCpuOp,           // ATen op, autograd function, custom op
  kUserAnnotation,  // record_function scope, ProfilerStep#n
  kPythonFunction,  // Python frame, nn.Module frame
  kRuntime,         // runtime call: launches, copies, synchronisation
  kDriver,          // driver call
  kKernel,
  kMemcpy,
  kMemset,
  kGpuAnnotation,  // projection of a user annotation on a stream
  kSync,           // synchronisation drawn on a stream; no work
  kOverhead,       // the profiler itself
  kOther,
};

inline bool IsGpuWork(EventKind kind) {
  return kind == EventKind::kKernel || kind == EventKind::kMemcpy || kind == EventKind::kMemset;
}
inline bool IsLaunchCall(EventKind kind) {
  return kind == EventKind::kRuntime || kind == EventKind::kDriver;
}

inline constexpr std::int64_t kAbsent = std::numeric_limits<std::int64_t>::min();
inline constexpr std::uint32_t kNoArgs = 0xFFFFFFFFu;

enum EventFlags : std::uint8_t {
  kLeftOut = 1,  // counted as an oddity; no analysis but the compatible one looks at it
  kClipped = 2,  // dur_ns was shortened; EventStore::recorded_duration_ns has the old one
  kInexact = 4,  // ts or dur had digits below a nanosecond; see EventStore::ts_us
};

struct Event {
  std::int64_t ts_ns;   // start, on the trace's own clock
  std::int64_t dur_ns;  // >= 0
  StringId name;
  std::uint32_t track;  // EventStore::tracks: the (pid, tid) pair
  std::uint32_t uid;    // position in traceEvents
  std::uint32_t args;   // EventStore::args, or kNoArgs
  std::uint32_t order;  // the profiler's own running number where there is one, else 0
  EventKind kind;
  std::uint8_t category;  // EventStore::categories
  std::uint8_t flags;
  std::uint8_t unused = 0;

  std::int64_t end_ns() const { return ts_ns + dur_ns; }
};
static_assert(sizeof(Event) == 40);

// The args that analyses read; text ids are raw JSON in EventStore::strings.
struct Args {
  std::int64_t correlation = kAbsent;
  std::int64_t external_id = kAbsent;
  std::int64_t sequence = kAbsent;  // autograd sequence number
  std::int64_t stream = kAbsent;
  StringId dims = kNoString;      // "Input Dims"
  StringId strides = kNoString;   // "Input Strides"
  StringId types = kNoString;     // "Input type"
  StringId concrete = kNoString;  // "Concrete Inputs"
  StringId other = kNoString;     // all further args, as `"key": value,` pairs
  // The name by which models know the op, where that is not the event's own: of an instruction of
  // XLA, whose name only counts ("custom-call.1"), "xla::gemm". In EventStore::strings as it is.
  StringId known_as = kNoString;
};
static_assert(sizeof(Args) == 56);

// One end of a launch arrow from CPU to GPU.
struct Flow {
  std::int64_t id;
  std::uint32_t track;
  char phase;  // 's' or 'f'
  bool ac2g;   // of category ac2g; else an older or another producer's arrow
};

struct Track {
  std::string_view pid;  // as text: pids and tids are not always numbers
  std::string_view tid;
};

}  // namespace jarvis::trace
