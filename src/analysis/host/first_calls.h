// What happened for the first time and therefore took long: code that is loaded when a kernel is
// first launched, modules and libraries set up, kernels compiled or tuned, memory taken from the
// driver. A run that went on longer would not show it again, so it is no cost of a step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/host/host_pieces.h"
#include "base/interval.h"

namespace jarvis::analysis {

enum class FirstCallKind : std::uint8_t {
  kLaunch,      // the first launch of a kernel: its code is loaded
  kSetUp,       // module loads, streams, attributes; lazy loading as the profiler reports it
  kOp,          // an op that had to set itself up: library handles, heuristics, communicators
  kCompile,     // Python frames that import, compile or tune
  kAllocation,  // memory taken from, or given back to, the driver while the GPU had nothing to do
};

struct FirstCall {
  FirstCallKind kind = FirstCallKind::kLaunch;
  trace::EventIndex call = trace::kNoEvent;    // a runtime call, an op, a frame, an overhead event
  trace::EventIndex op = trace::kNoEvent;      // the nearest op around it
  trace::EventIndex kernel = trace::kNoEvent;  // that was launched for the first time
  std::int64_t begin_ns = 0;                   // of the time that later calls do not take
  std::int64_t end_ns = 0;
  double usual_us = 0;  // of later calls; 0: there are none
  double ms() const { return static_cast<double>(end_ns - begin_ns) / 1e6; }
};

struct FirstCalls {
  std::vector<FirstCall> calls;         // longest first
  IntervalSet<std::int64_t> intervals;  // theirs, of all threads as a set
  double total_ms = 0;                  // length of the set: the host's wall time

  // Makes `intervals` and `total_ms` of `calls`, and puts these in order.
  void AddUp();
  // Of the set, inside [begin_ns, end_ns).
  double MsWithin(std::int64_t begin_ns, std::int64_t end_ns) const;
};

// `pieces`: of at least kFirstCallMinNs or shorter. `gpu_work` as in MeasureProfilingCost. Pure.
inline constexpr std::int64_t kFirstCallMinNs = 100'000;
FirstCalls FindFirstCalls(const trace::EventStore& events, const tree::CallTree& tree,
                          const HostPieces& pieces, std::span<const trace::EventIndex> gpu_work);

// Length of the part of `set` that lies in [begin, end), in milliseconds. log n and what is inside.
double MsInside(const IntervalSet<std::int64_t>& set, std::int64_t begin, std::int64_t end);

}  // namespace jarvis::analysis
