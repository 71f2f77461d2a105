// The ledger of a trace: three books over the base of time, in whole nanoseconds.
//
//   wall  what the wall waits for: a partition of the base, which adds up to it exactly
//   gpu   every kernel, copy and fill once, by kind of work: exposed + overlapped = its time;
//         together they are busy for `busy_ns`
//   host  what each launching thread does: own work, waits, first calls, time off the processor
//
// Pure functions of a trace; any thread; the same answer for the same input. O(n log n) in events.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/frames/base_of_time.h"
#include "ledger/books/host_timeline.h"
#include "ledger/kinds/kinds_of_work.h"

namespace jarvis::ledger {

// Why the GPU has nothing to do: what the thread does that launches the next work.
enum class IdleCause : std::uint8_t {
  kHostIssues,       // in ops and runtime calls
  kGraphLaunch,      // in the call that launches a recorded graph
  kBetweenLaunches,  // between two ops that follow soon
  kPython,
  kOutsideOps,  // nothing recorded, or only an annotation
  kInput,       // the loader's next batch, preprocessing
  kAllocator,   // the driver's: memory taken or given back
  kFirstCall,
  kNotScheduled,   // or blocked: a call far longer than its equals
  kRoundTrip,      // in a call that waits for the GPU, which is done
  kLaunchLatency,  // the call is done, the work has not begun
  kQueuedGap,      // the work was queued before: the device's own gap
  kTail,           // nothing follows
  kNoLaunch,       // the launch of what follows is not recorded
  kNoHost,         // nothing of the host is
};
inline constexpr int kIdleCauses = static_cast<int>(IdleCause::kNoHost) + 1;
std::string_view IdleCauseText(IdleCause cause);  // "host issues ops", ...
// The host is what the GPU waits for.
bool IsHosts(IdleCause cause);

struct WallBook {
  // Where several pieces of work run, computation counts before communication before copies between
  // host and device, then what began first.
  std::array<std::int64_t, kWorkKinds> work_ns{};
  std::array<std::int64_t, kIdleCauses> idle_ns{};
  std::int64_t unrecorded_ns = 0;  // GPU work that was launched before the recording
  // The recording's: own work of any kind, communication and copies to which the wall belongs.
  analysis::TimeSet busy;
  analysis::TimeSet communication;
  analysis::TimeSet host_copies;
  std::int64_t Of(WorkKind kind) const { return work_ns[static_cast<std::size_t>(kind)]; }
  std::int64_t Of(IdleCause cause) const { return idle_ns[static_cast<std::size_t>(cause)]; }
  std::int64_t communication_ns() const {  // exposed
    return Of(WorkKind::kCommTransfer) + Of(WorkKind::kCommWait);
  }
  std::int64_t total_idle_ns() const;
  std::int64_t total_ns() const;
};

struct GpuLine {
  std::int64_t ns = 0;          // sum of durations, as far as they lie in the base
  std::int64_t exposed_ns = 0;  // nothing else runs on the GPUs of the process
  std::int64_t wall_ns = 0;     // what the wall book files under it
  std::uint64_t count = 0;
  std::int64_t overlapped_ns() const { return ns - exposed_ns; }
};

struct KernelLine {
  StringId name;
  KernelKind kind;
  GpuLine line;
};

struct GpuBook {
  std::array<GpuLine, kWorkKinds> kinds{};
  std::vector<KernelLine> kernels;  // by name and kind of work, most time first
  std::int64_t busy_ns = 0;         // of the base, while any own work runs
};

enum class HostLine : std::uint8_t {
  kOwnOps,
  kOwnCalls,  // of the runtime and the driver
  kOwnPython,
  kOwnBetweenOps,
  kOwnAllocator,
  kOwnInput,
  kWaitExplicit,
  kWaitCopy,
  kWaitAllocator,
  kWaitQueue,  // the queue of launches is full
  kWaitInput,  // for a loader's other processes
  kSpin,       // ends with a GPU result, and the GPU is busy all the time
  kOneTime,
  kNotScheduled,
  kAnnotationOnly,
  kNothing,  // is recorded
};
inline constexpr int kHostLines = static_cast<int>(HostLine::kNothing) + 1;
std::string_view HostLineText(HostLine line);  // "own: ops", "wait: explicit", ...
bool IsOwn(HostLine line);
bool IsWait(HostLine line);

struct HostThreadBook {
  std::uint32_t track = 0;
  std::uint64_t launches = 0;
  std::array<std::int64_t, kHostLines> ns{};
};

struct HostBook {
  std::vector<HostThreadBook> threads;  // that launch most, at most three
  // Own work of these threads as a set of time: what the host takes at least.
  std::int64_t alone_ns = 0;
};

struct Books {
  // While own work runs that is neither exposed communication nor an exposed copy of the host.
  std::int64_t computing_ns() const {
    return gpu.busy_ns - wall.communication_ns() - wall.Of(WorkKind::kHostCopy);
  }

  WallBook wall;
  GpuBook gpu;
  HostBook host;
};

Books KeepBooks(const analysis::FrameFacts& facts, const analysis::BaseOfTime& base,
                const KindsOfWork& kinds);

// Parts of it: gpu_book.cpp, idle_time.cpp, host_book.cpp.
void KeepGpuBook(const analysis::FrameFacts& facts, const analysis::BaseOfTime& base,
                 const KindsOfWork& kinds, Books* books);
void FileIdleTime(const analysis::FrameFacts& facts, const analysis::BaseOfTime& base,
                  const HostTimeline& host, WallBook* wall);
HostBook KeepHostBook(const analysis::BaseOfTime& base, const HostTimeline& host);

}  // namespace jarvis::ledger
