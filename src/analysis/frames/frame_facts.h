// What all frames of time are made from: the process and the thread that the trace is about, its
// GPU work with its launches, its runtime calls by what they do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/attribution/attribution.h"
#include "analysis/host/allocator_calls.h"
#include "base/interval.h"
#include "tree/call_tree.h"

namespace jarvis::analysis {

using TimeSpan = Interval<std::int64_t>;
using TimeSet = IntervalSet<std::int64_t>;

// What of the set lies in the span.
TimeSet Within(const TimeSet& set, TimeSpan span);
// How much of a set of time lies in a span, in O(log n).
class TimeMeter {
 public:
  explicit TimeMeter(const TimeSet& set);  // REQUIRES: the set outlives it
  std::int64_t In(TimeSpan span) const { return Until(span.end) - Until(span.start); }

 private:
  std::int64_t Until(std::int64_t at) const;

  const TimeSet& set_;
  std::vector<std::int64_t> before_;  // by piece: the length of those before it
};
// The middle value (of an even number the upper one); absent for none.
std::optional<std::int64_t> MedianOf(std::vector<std::int64_t> values);

struct FrameInput {
  const trace::EventStore& events;
  const tree::CallTree& tree;
  const Attribution& attribution;
  // Of a file of several ranks: the tracks of the one that it is about; null: all.
  const std::vector<bool>* tracks = nullptr;
  bool Has(std::uint32_t track) const { return tracks == nullptr || (*tracks)[track]; }
};

// One piece of GPU work.
struct LaunchedWork {
  EventIndex event;
  EventIndex launch;       // the call or op that launched it, or kNoEvent
  std::int64_t launch_ns;  // that one's start; kAbsent without one
};

struct FrameFacts {
  const trace::EventStore& events;
  const tree::CallTree& tree;

  // The process that launched most GPU work (without launches: that has most host events), and its
  // thread with the step marks; without marks the one that launches and is busiest. kNoTrack
  // without host events.
  static constexpr std::uint32_t kNoTrack = 0xFFFFFFFFu;
  std::uint32_t track = kNoTrack;
  std::string process{};
  bool several_processes = false;
  std::vector<bool> in_process{};  // by track

  TimeSpan recording{};  // of the process's host events and its GPU work
  // Of recorders that record a program from its start to its end: from the first launch whose work
  // is recorded to the end of the last work. What lies around it is the program's start and end. Of
  // others, where it can be told: all but the stopping of the profiler.
  std::optional<TimeSpan> worked{};
  TimeSpan thread{};                            // of the chosen thread's events
  std::vector<LaunchedWork> gpu{};              // of the process, by start
  std::vector<LaunchedWork> launched{};         // those with a launch, by launch, then start
  std::vector<std::int64_t> launched_before{};  // by place in `launched`, and one more: sum of
                                                // durations of those before it
  std::vector<EventIndex> autograd{};  // outermost nodes on other threads than the chosen, by start
  std::vector<EventIndex> calls{};     // runtime and driver calls of the process, by start
  AllocatorCalls allocator{};          // of them
  std::vector<EventIndex> on_thread{};  // host events of the chosen thread, outer before inner
  // ProfilerStep#n on that thread, by start, apart; without host events on the stream that works
  // most.
  std::vector<EventIndex> marks{};
  TimeSet busy{};  // of all of `gpu`
  // What is told of where there are no steps.
  TimeSpan without_steps() const { return worked.value_or(recording); }

  // Host time of the process, threads together.
  TimeSet in_ops{};              // ops and runtime calls; marks recorded as ops do not count
  TimeSet in_calls_that_wait{};  // for the GPU
  TimeSet in_first_calls{};      // see FirstCallsIn
  std::vector<EventIndex> waiting_calls{};  // by start
  struct FirstCall {
    EventIndex call;
    enum class Kind : std::uint8_t { kSetUp, kMemory, kLoadingLaunch } kind;
    std::int64_t idle_ns;  // of it, the GPU had nothing to do: a call may also wait for work
  };
  std::vector<FirstCall> first_calls{};  // by start; none lies in another

  // Where the recording was cut off: the last launches have no GPU work in it, so what is open then
  // is not over. The last start of an event; absent: it was not.
  struct Cut {
    std::int64_t at_ns;
    std::uint64_t launches;  // without their work
  };
  std::optional<Cut> cut{};
  // Launches of kernels that have no GPU work in the recording, though others have theirs; without
  // those that are cut off, and without those into a graph that is being captured. By start.
  std::vector<EventIndex> workless{};
  std::uint64_t kernel_launches = 0;  // all, with their work or without
  // Threads whose launches all have none, though others' have: of a GPU that was not recorded.
  std::uint64_t unrecorded_threads = 0;
  std::uint64_t unrecorded_threads_launches = 0;

  // Places in `launched` of what was launched in the span.
  std::pair<std::size_t, std::size_t> LaunchedIn(TimeSpan span) const;
  bool gpu_work() const { return !gpu.empty(); }
  bool host_events() const { return track != kNoTrack; }
};

FrameFacts CollectFrameFacts(const FrameInput& input);

// Names that profilers of old recorded as ops, though they are scopes: marks of steps, of
// optimizers, of loaders.
bool IsScopeName(std::string_view name);

}  // namespace jarvis::analysis
