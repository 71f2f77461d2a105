// What recording a trace cost the program that was recorded, as far as the trace itself shows it:
// frames in which every traced call is followed by the same long pause, the price of each recorded
// event, and what the profiler's own events say.
//
// Frame artefact: a Python frame is charged for each call that is traced in it, and some frames
// (thousands of locals, generated code) are charged tens of microseconds. In such a frame the gaps
// between direct children lie on a floor that is far above the trace's and drifts slowly: of each
// gap the part below the 10th percentile of its 41 neighbours and above the trace's median gap is
// the profiler's. The frame is accepted if the median of that part exceeds 3 us and five times the
// trace's median gap, and gaps go with their neighbours (correlation of logarithms above 0.9): real
// work between calls differs from call to call, a fixed charge does not.
//
// Per event: event_prices.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/host/event_prices.h"
#include "analysis/host/host_cost.h"
#include "base/interval.h"
#include "tree/call_tree.h"

namespace jarvis::analysis {

// All instances of one Python frame that was charged for its calls.
struct FrameCost {
  StringId name = kNoString;
  trace::EventIndex first = trace::kNoEvent;  // an instance
  std::uint64_t instances = 0;
  std::uint64_t gaps = 0;      // between its direct children
  double typical_gap_us = 0;   // median
  double typical_cost_us = 0;  // median of what of a gap is the profiler's
  double correlation = 0;      // of gaps with their neighbours
  double ms = 0;               // the profiler's
};

// Events of category "overhead" of one name.
struct OverheadCost {
  StringId name = kNoString;
  std::uint64_t count = 0;
  double ms = 0;
  bool profiler = false;  // false: loading and compiling code, full queues happen without it too
};

struct ProfilingCost {
  std::optional<double> usual_gap_us;  // median between traced calls of Python frames; no frames
  std::vector<FrameCost> frames;       // most time first
  // Absent: not recorded, or too few to tell.
  std::optional<EventCost> python;
  std::optional<EventCost> ops;
  std::optional<EventCost> runtime;
  std::vector<OverheadCost> overheads;  // most time first
  // What to shorten when time without the profiler is asked for; by thread, then by begin. Events
  // between two runtime calls share a stretch.
  std::vector<HostCost> stretches;
  // The stretches that gaps of `frames` are, of all threads as a set.
  IntervalSet<std::int64_t> artefact;
  double artefact_ms = 0;  // sum over `frames`
  // GPU idle while such frames ran, at most what each lost: about what the step gains without the
  // artefact, as the host is only late for the GPU until it has caught up.
  double idle_ms = 0;
  double overhead_ms = 0;  // of `overheads` that are the profiler's
  double low_ms = 0;       // artefact, overhead and events
  double high_ms = 0;
};

// The stretches that frames were charged for, each with what is sure of it: known by more than the
// price of single events.
std::vector<HostCost> FramePauses(const ProfilingCost& cost);

// What recording is expected to have cost within `times` (by start, apart), on the thread where it
// cost most.
double ExpectedMsInside(const ProfilingCost& cost, const IntervalSet<std::int64_t>& times);

// `gpu_work`: what counts as GPU work, in any order. Pure.
ProfilingCost MeasureProfilingCost(const trace::EventStore& events, const tree::CallTree& tree,
                                   std::span<const trace::EventIndex> gpu_work);

}  // namespace jarvis::analysis
