// How the host feeds the GPU: time from launch to launch, from launch to start, how far the host
// runs ahead, and how often the GPU had to wait for it.
//
// Method: a launch is a recorded runtime or driver call with GPU work; of a call with several
// pieces (a graph) the first to start counts. Its stream was idle when everything that had started
// there before ended before the call began. From the call's begin to the work's start is the lead
// of the host, how far it runs ahead of the GPU; where all streams were idle, it is the latency of
// a launch. Launch to launch and the work's duration are of kernels alone, as copies come in
// bursts.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/host/gpu_work.h"
#include "base/interval.h"
#include "tree/call_tree.h"

namespace jarvis::analysis {

struct Launch {
  trace::EventIndex call;
  trace::EventIndex work;  // the first to start
  std::uint32_t thread;    // track of the call
  std::uint32_t stream;    // track of the work
  std::int64_t call_ns;    // begin of the call
  std::int64_t start_ns;   // of the work
  std::int64_t work_ns;    // duration of the work; the sum if there are several pieces
  std::uint32_t pieces;    // of GPU work
  bool kernel;             // the work is a kernel, not a copy or a memset
  bool stream_idle;        // at the call's begin
  bool device_idle;        // no stream of the trace was working at the call's begin
};

// Times in microseconds; absent where nothing was measured.
struct LaunchFigures {
  std::uint64_t launches = 0;
  std::uint64_t graph_launches = 0;         // calls with more than one piece of GPU work
  double graph_percent = 0;                 // of launched GPU time: by such calls
  std::optional<double> to_next_median_us;  // begin to begin, on one thread; kernels alone
  std::optional<double> to_next_mean_us;
  std::optional<double> work_median_us;  // duration of kernels
  std::optional<double> work_mean_us;
  // Begin to start, of those that found all streams idle. Absent for less than three, and where
  // clocks disagree so much that work starts before its call.
  std::optional<double> latency_median_us;
  std::optional<double> lead_median_us;  // begin to start, of all launches
  std::optional<double> lead_first_us;   // median of the first tenth (at least one)
  std::optional<double> lead_last_us;    // median of the last tenth
  std::optional<double> idle_percent;    // of launches: the stream was idle
  // Work that starts before its call began: clocks of host and GPU disagree, by so much (median).
  std::uint64_t before_call = 0;
  std::optional<double> clocks_off_us;
  // Most launches find their stream idle, and launching takes longer than the kernels.
  bool launch_bound = false;
};

class Launches {
 public:
  Launches() = default;  // of a trace without any
  Launches(const trace::EventStore& events, const tree::CallTree& tree, const HostGpuWork& gpu);

  // By begin of the call.
  std::span<const Launch> all() const { return all_; }
  // Tracks of the threads that launch, the one with most launches first.
  std::span<const std::uint32_t> threads() const { return threads_; }
  std::span<const std::uint32_t> streams() const { return streams_; }

  // Of the launches whose call begins in the window.
  LaunchFigures In(Interval<std::int64_t> window) const;
  LaunchFigures OfThread(std::uint32_t track) const;
  LaunchFigures OfStream(std::uint32_t track) const;
  LaunchFigures All() const;
  // How many launched pieces of GPU work wait for their start at that moment.
  std::uint64_t PendingAt(std::int64_t at_ns) const;

 private:
  std::vector<Launch> all_;
  std::vector<std::uint32_t> threads_;
  std::vector<std::uint32_t> streams_;
  std::vector<std::int64_t> starts_;  // of launched work, sorted
  std::vector<std::int64_t> calls_;   // begin of the call, for each piece of work; sorted
};

}  // namespace jarvis::analysis
