// What can be seen in a trace's own times about how it was recorded: whether durations of kernels
// hold the time to dispatch them, whether host and GPU go by one clock, how fine times are, and
// which events stand for the same time twice.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tree/call_tree.h"

namespace jarvis::analysis {

// Kernels of a stream that follow each other within 5 us touch exactly: the producer sets the end
// of one to the start of the next.
struct TouchingKernels {
  std::uint64_t neighbours = 0;  // pairs within 5 us
  std::uint64_t touching = 0;    // of those with a gap of at most a nanosecond
  std::uint64_t kernels = 0;
  double floor_us = 0;  // 2nd percentile of kernel durations: what the shortest take
  // Kernels times floor: the time that may be dispatch, at most.
  double bound_ms() const { return static_cast<double>(kernels) * floor_us / 1000; }
  // Enough of them do to say so of all.
  bool holds_dispatch() const { return neighbours >= 10 && 2 * touching >= neighbours; }
};

struct ClockCheck {
  std::uint64_t early_starts = 0;  // GPU work that starts before its launch call does
  double early_us = 0;             // the most
  trace::EventIndex early_first = trace::kNoEvent;
  std::uint64_t late_ends = 0;  // waits for the device that return before the work ends
  double late_us = 0;           // the most
  trace::EventIndex late_first = trace::kNoEvent;
  std::uint64_t launched = 0;  // GPU work that could be compared
};

// Ops of one name around ops that stand for the same call.
struct WrapperOps {
  StringId name = kNoString;   // the outer one
  StringId inner = kNoString;  // its first child; the same as `name`: recorded twice
  std::uint64_t count = 0;
  double ms = 0;  // of the inner ones: host time that counts twice
};

struct RecordingChecks {
  std::optional<TouchingKernels> touching;  // durations hold dispatch
  std::optional<ClockCheck> clock;          // the clocks disagree
  // GPU work that starts more than a millisecond before its launch: no clock is that wrong, the
  // link is.
  std::uint64_t launched_later = 0;
  double launched_later_us = 0;  // the most
  double launched_later_ms = 0;  // GPU time of it, as a union
  trace::EventIndex launched_later_first = trace::kNoEvent;
  bool whole_microseconds = false;
  double median_kernel_us = 0;             // 0: no kernels
  std::vector<WrapperOps> wrappers;        // most calls first
  std::uint64_t repeated_annotations = 0;  // within another of the same name and time
  double repeated_annotations_ms = 0;
  // Rows of annotations on the GPU, and how much of their length the GPU worked.
  std::uint64_t gpu_annotations = 0;
  double gpu_annotations_ms = 0;
  double gpu_annotations_busy_ms = 0;
};

// `gpu_work` as in MeasureProfilingCost. Pure; n log n.
RecordingChecks CheckRecording(const trace::EventStore& events, const tree::CallTree& tree,
                               std::span<const trace::EventIndex> gpu_work);

// What a kernel's duration is at least, however little it does: where durations hold the time to
// dispatch them, what the shortest take; elsewhere so, and no more than a kernel's own start and
// end. 0: no kernels.
double KernelFloor(const trace::EventStore& events, std::span<const trace::EventIndex> gpu_work);

}  // namespace jarvis::analysis
