// All that is said about the host of one trace: threads, time, launches, waits, stretches.
#pragma once

#include <string>
#include <vector>

#include "analysis/host/host_stretches.h"
#include "analysis/host/host_threads.h"
#include "analysis/host/host_time.h"
#include "analysis/host/launches.h"
#include "analysis/host/synchronisations.h"
#include "base/job.h"

namespace jarvis::analysis {

struct TrackLaunches {
  std::uint32_t track;  // a thread or a stream
  LaunchFigures figures;
};

struct HostSummary {
  bool has_host_events = false;
  bool has_gpu_work = false;
  bool has_frames = false;  // Python frames on a thread that works
  bool steps_marked = false;
  ThreadTimes threads;
  HostTime time;
  Launches launches;
  LaunchFigures launching;               // the whole trace
  std::vector<TrackLaunches> by_thread;  // at most kLaunchTracksMax, most launches first
  std::vector<TrackLaunches> by_stream;  // likewise
  std::vector<LaunchFigures> by_step;    // by ThreadTimes::steps
  std::vector<WaitGroup> waits;
  HostStretches stretches;

  std::size_t MemoryBytes() const;
};
inline constexpr std::size_t kLaunchTracksMax = 8;

// O(n log n) in events. Errors: kCancelled.
Result<HostSummary> SummariseHost(const HostInput& input, const Job& job);

}  // namespace jarvis::analysis
