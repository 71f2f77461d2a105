// Where the host waits for the GPU, by caller, and what it waits for.
//
// Method: a call waits if its name says so (synchronisations, blocking copies), if the copy that it
// asked for was over when it returned, if the GPU works most of the time in which it frees memory,
// or if it launches into a full queue. A wait is the victim of what it waits for: the GPU work that
// ran meanwhile, its own copy, or, where nothing recorded ran, work that is not in the trace. Work
// without a recorded launch was launched before the recording began: a wait for it belongs to an
// earlier step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/host/gpu_work.h"
#include "analysis/host/host_names.h"
#include "analysis/host/launches.h"
#include "tree/call_tree.h"

namespace jarvis::analysis {

enum class WaitCause : std::uint8_t {
  kGpuWork,     // queued before; `waits_for` names the kernel with most of the time
  kForeign,     // recorded, but launched before the recording began
  kOwnCopy,     // the bytes that the call itself moves
  kUnrecorded,  // nothing recorded ran meanwhile
  kFullQueue,   // the GPU's queue of launches had no place left
  kNothing,     // all was done when the call began: the call's cost only
};
std::string_view WaitCauseText(WaitCause cause);

struct WaitingCall {
  trace::EventIndex call;
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::int64_t gpu_ns;      // GPU work ran meanwhile, its own copy included
  std::int64_t copy_ns;     // its own copy ran meanwhile
  std::int64_t foreign_ns;  // work without a recorded launch ran meanwhile
  WaitCause cause;
};

// Calls of one name from one place.
struct WaitGroup {
  std::string call;   // runtime call
  std::string op;     // outermost of the ATen ops around it, else the op above; empty: none
  std::string code;   // first line of user code around it; empty: none recorded
  std::string range;  // innermost annotation around it; empty: none
  std::uint64_t count = 0;
  std::int64_t total_ns = 0;
  std::int64_t median_ns = 0;
  std::int64_t max_ns = 0;
  std::int64_t gpu_ns = 0;                // of total_ns: recorded GPU work ran
  std::int64_t copy_ns = 0;               // of total_ns: its own copies ran
  std::int64_t foreign_ns = 0;            // of total_ns: work launched before the recording ran
  std::int64_t unrecorded_ns = 0;         // of total_ns: in calls that waited for nothing recorded
  std::uint64_t found_done = 0;           // calls at which nothing ran: cost only
  WaitCause cause = WaitCause::kNothing;  // with most of the time
  std::string waits_for;                  // kernel or copy with most of gpu_ns; empty: none
  double waits_for_percent = 0;           // of gpu_ns
  std::vector<trace::EventIndex> calls;   // in the tree's order
};

struct Waits {
  std::vector<WaitingCall> calls;     // in the tree's order
  std::vector<std::uint8_t> is_wait;  // by event: 0, or one more than its WaitCause
  bool Is(trace::EventIndex e) const { return is_wait[e] != 0; }
  // For work that no recorded step asked for.
  bool IsForeign(trace::EventIndex e) const {
    return is_wait[e] == 1 + static_cast<std::uint8_t>(WaitCause::kForeign) ||
           is_wait[e] == 1 + static_cast<std::uint8_t>(WaitCause::kUnrecorded);
  }
};

Waits FindWaits(const trace::EventStore& events, const tree::CallTree& tree, const HostGpuWork& gpu,
                const Launches& launches, HostNames* names);

// The longest first; ties by name.
std::vector<WaitGroup> GroupWaits(const trace::EventStore& events, const tree::CallTree& tree,
                                  const HostGpuWork& gpu, const Waits& waits, HostNames* names);

// The op that a person calls: from the nearest op outwards while it is ATen's. kNoEvent: no op.
trace::EventIndex CallingOp(const trace::EventStore& events, const tree::CallTree& tree,
                            trace::EventIndex e, HostNames* names);

}  // namespace jarvis::analysis
