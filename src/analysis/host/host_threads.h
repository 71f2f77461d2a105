// Who does what among the threads of a trace, and which of them a step waits for.
//
// Method: each thread's time is cut into pieces by what is innermost (op, runtime call, wait for
// the GPU, plain Python, a frame that only waits, nothing); pieces of all threads that launch GPU
// work are swept together, so that each moment of a step belongs to exactly one of them. Shares of
// a step add up to it.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/host/host_names.h"
#include "analysis/host/host_walk.h"
#include "analysis/host/synchronisations.h"
#include "base/interval.h"
#include "trace/metadata.h"
#include "tree/call_tree.h"

namespace jarvis::analysis {

struct HostInput {
  const trace::EventStore& events;
  const tree::CallTree& tree;
  std::span<const trace::TrackNames> names;   // by track; may be empty
  std::vector<Interval<std::int64_t>> steps;  // by start; empty: no steps are known
  // By step: it is unlike the others (set-up, first calls). Empty: all are alike.
  std::vector<bool> odd = {};
};

enum class ThreadRole : std::uint8_t {
  kMain,      // of the threads that launch (of all threads, if none does) the one with most work
  kAutograd,  // runs the backward pass
  kLoader,    // loads data
  kLauncher,  // another thread that launches GPU work
  kWorker,    // works, and launches nothing
  kMonitor,   // does nothing but wait
};
std::string_view ThreadRoleText(ThreadRole role);

enum class HostState : std::uint8_t {
  kOp,           // torch ops
  kCall,         // runtime and driver calls that do not wait
  kGpuWait,      // calls that wait for the GPU
  kPython,       // Python frames
  kPause,        // Python frames that only wait
  kRange,        // inside an annotation and nothing else
  kForeignWait,  // calls that wait for work of before the recording, or outside of it
};
inline constexpr std::size_t kHostStates = 7;

struct WorkingThread {
  std::uint32_t track = 0;
  std::string name;  // as recorded; empty: none
  std::string pid;
  std::string tid;
  ThreadRole role = ThreadRole::kWorker;
  std::uint64_t launches = 0;
  std::uint64_t events = 0;
  Interval<std::int64_t> span{0, 0};           // first begin to last end
  std::array<std::int64_t, kHostStates> ns{};  // by HostState
  std::int64_t loader_ns = 0;                  // inside the loader's annotations and code
  std::int64_t backward_ns = 0;                // inside autograd's nodes
  // Neither waiting nor empty.
  std::int64_t WorkNs() const {
    return ns[0] + ns[1] + ns[static_cast<std::size_t>(HostState::kPython)];
  }
};

// Whose a moment of a step is.
enum class StepPart : std::uint8_t {
  kMain,         // the main thread runs ops and calls
  kMainPython,   // the main thread runs plain Python
  kLoader,       // the main thread loads data, or waits while the loader does
  kAutograd,     // the autograd thread works
  kOther,        // another thread that launches works
  kGpuWait,      // a launching thread waits for the GPU, and none works
  kForeignWait,  // the same, for work of before the recording or outside of it: not the step's
  kNothing,      // nothing is recorded
};
inline constexpr std::size_t kStepParts = 8;
std::string_view StepPartText(StepPart part);

struct StepThreads {
  Interval<std::int64_t> window;
  std::array<std::int64_t, kStepParts> ns{};  // by StepPart; adds up to the window
  StepPart critical = StepPart::kNothing;     // with most of the time
  bool odd = false;                           // see HostInput
};

struct ThreadTimes {
  std::vector<WorkingThread> threads;  // in the tree's order
  Interval<std::int64_t> span{0, 0};   // of the threads that launch
  // When no thread that launches runs an op or a call, within the span.
  IntervalSet<std::int64_t> between;
  std::vector<StepThreads> steps;  // one for the span if no steps are known
};

ThreadTimes MeasureThreads(const HostInput& input, const Launches& launches, const Waits& waits,
                           HostNames* names);

}  // namespace jarvis::analysis
