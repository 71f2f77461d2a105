// What a trace recorded, as the simulation needs it: the calls that matter on each thread, the work
// of each stream, which call launched which work. Flat arrays; everything else points into them.
//
// Times are microseconds as doubles from the first event of the trace.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/interval.h"
#include "trace/event_store.h"
#include "tree/call_tree.h"

namespace jarvis::analysis {

inline constexpr std::uint32_t kNoPlace = 0xFFFFFFFFu;  // in any of the arrays

// What a call means for dependencies.
enum class CallRole : std::uint8_t {
  kLaunch,  // of a kernel, a memset or a graph
  kCopy,
  kDeviceWait,   // for all work launched before
  kStreamWait,   // for the work of one stream
  kEventWait,    // for one piece of work
  kFree,         // waits for the device, too
  kMayWait,      // allocation and setting up: the driver sometimes waits for the device
  kStreamOrder,  // a stream is told to wait for an event; the host does not wait
  kRecordEvent,
  kOther,
};

struct HostCall {
  double begin = 0;
  double end = 0;
  std::uint32_t thread = 0;
  std::uint32_t first_work = 0;  // RecordedWork::works_of_calls[first_work, first_work + works)
  std::uint32_t works = 0;
  StringId name = 0;
  trace::EventIndex event = trace::kNoEvent;
  CallRole role = CallRole::kOther;
  std::uint32_t then_sync = kNoPlace;  // of a copy: the call by which the same op waits for it
  bool graph = false;                  // launches a recorded graph
  bool returns_late = false;  // of copies: the API says that it returns when the copy is done

  double duration() const { return end - begin; }
};

struct GpuWork {
  double start = 0;
  double end = 0;
  std::uint32_t stream = 0;
  std::uint32_t call = kNoPlace;      // that launched it
  std::uint32_t previous = kNoPlace;  // work of its stream
  StringId name = 0;
  trace::EventIndex event = trace::kNoEvent;
  trace::EventKind kind = trace::EventKind::kKernel;
  bool to_host = false;     // a copy from the device
  bool from_host = false;   // a copy to the device
  bool pageable = false;    // its host memory is not pinned
  bool pinned = false;      // and this one's is known to be
  bool collective = false;  // ends when other ranks let it
  double bytes = 0;         // of copies that recorded them; else 0

  double duration() const { return end - start; }
};

struct HostThread {
  std::uint32_t track = 0;
  std::uint32_t launches = 0;              // calls with GPU work
  std::uint32_t autograd_nodes = 0;        // backward nodes that ran here
  std::vector<std::uint32_t> calls;        // by begin
  std::vector<double> activity;            // begins of all its events, ascending, each once
  std::vector<Interval<double>> in_calls;  // all runtime calls, by begin
  std::vector<double> arrivals;            // ends of waits for a loader's workers, ascending
  double last_end = 0;                     // of its ops and calls
};

// Where an event is in one of the arrays.
struct EventPlace {
  trace::EventIndex event;
  std::uint32_t place;
};

struct RecordedWork {
  std::int64_t base_ns = 0;     // time 0
  std::vector<HostCall> calls;  // by begin
  std::vector<GpuWork> works;   // by start, launch, end
  std::vector<std::uint32_t> works_of_calls;
  std::vector<HostThread> threads;                  // those with calls that matter, by track
  std::vector<std::vector<std::uint32_t>> streams;  // works by start
  std::vector<EventPlace> call_places;              // by event
  std::vector<EventPlace> work_places;

  std::span<const std::uint32_t> WorksOf(const HostCall& call) const {
    return std::span(works_of_calls).subspan(call.first_work, call.works);
  }
  double Micros(std::int64_t ns) const { return static_cast<double>(ns - base_ns) / 1000; }
  // kNoPlace: the event is no call that matters, or no GPU work.
  std::uint32_t CallAt(trace::EventIndex event) const;
  std::uint32_t WorkAt(trace::EventIndex event) const;
  // The first of its call's work, or without a call.
  bool IsFirstOfCall(std::uint32_t work) const;
};

// Events that were left out, and host events of threads without a call that matters, are not in it.
// GPU work that no call launched is, without a call.
RecordedWork CollectRecordedWork(const trace::EventStore& events, const tree::CallTree& tree);

// Of a copy back that the host waits for: its next call that launches, if the host is in the
// runtime again sooner than it could have read what was copied. Else kNoPlace.
std::uint32_t LaunchBeforeRead(const RecordedWork& recorded, const GpuWork& work);

// To be called again when the times of works changed: order, streams, and works of calls.
void OrderWorks(RecordedWork* recorded);

}  // namespace jarvis::analysis
