// Where the time of the steps goes in a recording without GPU work: the host is the subject then.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "session/loaded_trace.h"
#include "session/trace_frames.h"

namespace jarvis::findings {

// Parts exclude each other, so they add up to the time of the steps that shares are of.
enum class CpuPart : std::uint8_t {
  kWaiting,    // no op runs while a collective of the CPU is under way
  kLoading,    // the loader's part, ops and all else
  kForward,    // ops of the forward pass
  kBackward,   // ... of the backward pass
  kOptimizer,  // ... that clear gradients and update weights
  kOtherOps,   // ops of no named part
  kNoOp,       // in no op: Python, or nothing that was recorded
};
inline constexpr std::size_t kCpuParts = 7;
std::string_view CpuPartText(CpuPart part);  // "waiting", "other_ops"

// Calls of one op with equal arguments, by the time that is in none of the ops below.
struct CpuOperation {
  std::string name;
  std::string args;  // "(32,1377) fp32<br>..."; empty: not recorded
  std::uint64_t count = 0;
  double self_ms = 0;
};

// Collectives of the CPU with one name.
struct CpuCollective {
  std::string name;
  std::uint64_t count = 0;
  double union_ms = 0;  // those that run at the same time count once
  double wait_ms = 0;   // of it no op runs
  double least_ms = 0, most_ms = 0;
  // Of one call; 0: not recorded.
  double least_bytes = 0, most_bytes = 0;
  double bytes = 0;  // of all calls
  // What the longest call with the fewest bytes and that with the most bytes take, in the middle.
  double small_ms = 0, large_ms = 0;
};

struct CpuSteps {
  double part_ms[kCpuParts] = {};
  double ops_ms = 0;  // any op runs, collectives apart
  std::uint64_t optimizer_ops = 0;
  bool optimizer_together = false;         // foreach or fused ops update many parameters at once
  std::string optimizer;                   // "Adagrad"; empty: not recorded
  bool data_parallel = false;              // DistributedDataParallel, or its reducer
  double odd_wait_ms = 0;                  // the same wait in the steps that are left out
  std::vector<CpuOperation> operations;    // the most self time first
  std::vector<CpuCollective> collectives;  // the most waiting first

  double Of(CpuPart part) const { return part_ms[static_cast<std::size_t>(part)]; }
};

CpuSteps MeasureCpuSteps(const session::LoadedTrace& trace, const session::TraceFrames& frames);

// Whether anything in the trace says that there is a GPU: a device that it describes, a runtime
// call, a transfer.
bool ShowsGpu(const session::LoadedTrace& trace);

// "gloo:all_reduce", "c10d::allreduce_": a collective, by the name of an op or annotation.
bool IsCpuCollective(std::string_view name);

}  // namespace jarvis::findings
