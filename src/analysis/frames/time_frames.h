// Whose time it is: the step that the user waits for, what the GPU did of it, what it did for work
// that was not recorded, and what the host did alone.
//
// Times are nanoseconds on the trace's clock. What a trace does not tell is absent (std::nullopt or
// an empty list) and `absent` says why; nothing here is ever 0 for want of knowledge.
// Pure functions of a trace: any thread, same bytes for the same input. O(n log n) in events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/frames/base_of_time.h"
#include "analysis/frames/frame_facts.h"
#include "analysis/frames/host_only.h"
#include "analysis/frames/step_finder.h"

namespace jarvis::analysis {

// A stretch of time by what happened in it. Every part is exclusive, so they add up to `total_ns`.
struct Balance {
  std::int64_t total_ns = 0;
  std::int64_t host_before_ns = 0;  // before the first own GPU work, GPU not busy for others
  // Own GPU work: a part of the time counts as computation if any runs, else as communication, else
  // as copies.
  std::int64_t computation_ns = 0;
  std::int64_t exposed_comm_ns = 0;
  std::int64_t exposed_copy_ns = 0;
  // Idle between own GPU work, by what the host did meanwhile; the first that fits counts.
  std::int64_t idle_first_call_ns = 0;  // loading code, taking memory
  std::int64_t idle_sync_ns = 0;        // in a call that waits for the GPU
  std::int64_t idle_host_ops_ns = 0;    // in ops or runtime calls
  std::int64_t idle_host_only_ns = 0;   // in neither: Python, or nothing that was recorded
  // Taken from the steps by others: what the user does not wait for in them.
  std::int64_t unrecorded_ns = 0;  // the GPU was busy with work that is not in the trace
  std::int64_t foreign_ns = 0;     // ... with work whose launch is not in the trace
  std::int64_t ahead_ns = 0;       // the host was ahead of a GPU that was at earlier steps
  // The GPU was at earlier steps and the host went on undisturbed: time of the steps all the same.
  std::int64_t beside_ns = 0;
  std::int64_t after_ns = 0;  // host after the last own GPU work

  std::int64_t busy_ns() const { return computation_ns + exposed_comm_ns + exposed_copy_ns; }
  std::int64_t idle_ns() const {
    return idle_first_call_ns + idle_sync_ns + idle_host_ops_ns + idle_host_only_ns;
  }
  // Without what others took.
  std::int64_t own_ns() const { return total_ns - unrecorded_ns - foreign_ns - ahead_ns; }
};

struct StepFrame {
  std::string name;
  std::int64_t number = 0;  // of ProfilerStep#n; else counted from 1
  TimeSpan host{};          // on the thread that was marked; of found steps, start to start
  // GPU work that the step's host time launched, on whatever thread; absent: none.
  std::optional<TimeSpan> gpu;
  std::uint64_t gpu_events = 0;
  std::int64_t busy_ns = 0;
  std::int64_t computation_ns = 0;
  std::int64_t exposed_comm_ns = 0;
  std::int64_t exposed_copy_ns = 0;
  std::int64_t others_ns = 0;  // within `gpu`: work of other steps, while none of this one's ran
  std::int64_t unrecorded_ns = 0;  // within `gpu`
  std::int64_t first_call_ns = 0;  // host time in first calls; see FrameFirstCalls
  // How far the GPU runs behind the host: first GPU work after the step's begin, last after its
  // end (negative: the host went on after it). Absent without GPU work.
  std::optional<std::int64_t> lag_begin_ns;
  std::optional<std::int64_t> lag_end_ns;
  bool steady = true;
  std::string odd_because;  // empty if steady
  // It is set apart for its length or the pace around it alone: what makes it so may be a part of
  // what the user waits for. Not a cold start.
  bool odd_by_pace = false;

  std::int64_t host_ns() const { return host.end - host.start; }
  std::optional<std::int64_t> window_ns() const {
    return gpu ? std::optional(gpu->end - gpu->start) : std::nullopt;
  }
  std::optional<std::int64_t> idle_ns() const {
    return gpu ? std::optional(gpu->end - gpu->start - busy_ns - others_ns - unrecorded_ns)
               : std::nullopt;
  }
};

// Loading of code, memory taken or given back, first launches that loaded their kernel: host time
// while the GPU had nothing to do.
struct FrameFirstCalls {
  std::int64_t set_up_ns = 0;
  std::int64_t memory_ns = 0;
  std::int64_t loading_launches_ns =
      0;  // long launches of a kernel's first call, GPU idle meanwhile
  std::uint64_t calls = 0;
  std::int64_t total_ns() const { return set_up_ns + memory_ns + loading_launches_ns; }
};

struct TimeFrames {
  BaseOfTime base;                  // what figures and shares are of
  std::vector<std::string> absent;  // what this trace does not tell, and why; sentences

  std::uint32_t track = 0;  // the thread that the frames are of
  std::string process;      // its process id as recorded
  bool several_processes = false;
  std::vector<StepFrame> steps;  // by start; of the chosen process

  // From the first step's begin (without steps: of the recording) to the end of the last step or of
  // its GPU work, whichever is later.
  TimeSpan frame{};
  Balance whole;   // of `frame`
  Balance steady;  // of the base

  // Own GPU work of the frame from its first to its last, without what was not recorded; absent
  // without GPU work. Begins after the last unrecorded stretch if nearly nothing ran before it.
  std::optional<TimeSpan> window;
  std::int64_t window_ns = 0;  // its length less unrecorded time and others' work in it
  std::int64_t window_busy_ns = 0;
  std::int64_t window_computation_ns = 0;
  std::int64_t window_comm_ns = 0;  // exposed
  std::int64_t window_copy_ns = 0;  // exposed

  // What the user waits for: a unit of the base; without steps that of the recording.
  std::int64_t step_ns = 0;
  // The GPU was still at earlier work when this could have begun, and is busy nearly all the time
  // since: the host is ahead of it, and a step lasts from one end of its GPU work to the next.
  bool runs_ahead = false;
  // Host time of the steps that shares are of, less its waits for the GPU.
  std::int64_t host_working_ns = 0;
  // Over the steady steps: mean length, GPU busy; absent without steps.
  std::optional<std::int64_t> steady_host_ns;
  std::optional<std::int64_t> steady_busy_ns;
  std::uint64_t steady_steps = 0;
  // Some steps are left out: figures are of the steady ones alone.
  bool apart() const { return steady_steps > 0 && steady_steps < steps.size(); }
  // The steps that figures are of, over which whatever is of all of them is divided; at least 1.
  std::size_t base_steps() const;
  // GPU work that is in no figure per step: launched before the recording, or in a step that is
  // left out. Sorted.
  std::vector<EventIndex> left_out;
  bool IsLeftOut(EventIndex gpu) const;

  // In which steps are missing (base.holes); also a part of `unrecorded`.
  std::int64_t holes_ns() const;

  std::vector<EventIndex> foreign;  // GPU work without a recorded launch, by start
  TimeSet foreign_busy;
  TimeSet unrecorded;
  std::int64_t host_waits_unrecorded_ns = 0;  // of that, host blocked meanwhile
  std::int64_t host_waits_foreign_ns = 0;     // host blocked while only foreign work ran
  FrameFirstCalls first_calls;                // of the frame
  // Of a recording that was cut off: launches whose GPU work is not in it; 0: it was not.
  std::uint64_t launches_cut_off = 0;
  // Launches of kernels that are missing though the recording goes on, and the first of them.
  std::uint64_t launches_without_work = 0;
  std::uint64_t kernel_launches = 0;  // all
  // Threads whose launches are all among them, and how many these are.
  std::uint64_t unrecorded_threads = 0;
  std::uint64_t unrecorded_threads_launches = 0;
  EventIndex first_without_work = trace::kNoEvent;

  HostOnlyTime host_only;

  // Evidence: share of GPU events (by count) whose stream had nothing left to do when they were
  // launched, and the median time from the end of the launch to the start. Absent without launches.
  std::optional<double> launched_idle_share;
  std::optional<std::int64_t> launch_lead_ns;
  std::uint64_t gpu_events = 0;  // own

  std::size_t MemoryBytes() const;
};

TimeFrames MakeTimeFrames(const FrameFacts& facts);
// TimeFrames::base alone, its units ungrouped: as ranks are held against each other.
BaseOfTime MakeBaseOfTime(const FrameFacts& facts);

}  // namespace jarvis::analysis
