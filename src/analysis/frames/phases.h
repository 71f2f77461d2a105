// The parts of a step: what the code calls them (annotations, modules, Python functions), training
// phases by their well-known names, and what repeats.
//
// Times are nanoseconds, sums over the steps looked at. A part is host time of the frames' thread;
// its GPU work is what that time launched, wherever it ran.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/frames/frame_facts.h"
#include "analysis/frames/time_frames.h"

namespace jarvis::analysis {

enum class PhaseKind : std::uint8_t {
  kOther,
  kLoader,
  kForward,
  kBackward,
  kZeroGrad,
  kOptimizer,
  kWait,     // a call that waits for the GPU
  kBetween,  // time between named parts
};
std::string_view PhaseKindText(PhaseKind kind);

// What told the part; best evidence first.
enum class PhaseSource : std::uint8_t {
  kAnnotation,
  kModule,
  kFrame,       // a Python function
  kOp,          // an op or a runtime call
  kTraining,    // well-known names and the threads of autograd
  kRepetition,  // of the launched kernel sequence
  kRest,
};
std::string_view PhaseSourceText(PhaseSource source);

struct Phase {
  std::string name;
  PhaseKind kind = PhaseKind::kOther;
  PhaseSource source = PhaseSource::kRest;
  int level = 0;                      // 0: these make up the step; 1: repeated within one of those
  std::optional<std::size_t> within;  // of level 1: the index of that one
  std::uint64_t count = 0;
  std::int64_t host_ns = 0;       // wall time on the frames' thread
  std::int64_t host_each_ns = 0;  // median
  std::uint64_t gpu_events = 0;
  std::int64_t gpu_window_ns = 0;  // from its first to its last GPU work, summed over instances
  std::int64_t gpu_busy_ns = 0;
  std::int64_t gpu_each_ns = 0;    // busy, median
  std::int64_t gpu_idle_ns = 0;    // the GPU had nothing to do while the host was here
  std::int64_t unrecorded_ns = 0;  // ... or did something that is not in the trace
  std::int64_t host_only_ns = 0;   // neither GPU work nor op nor runtime call meanwhile
  std::int64_t start_ns = 0;       // of the first
  bool first = false;              // this is the first of several, which differs from the others
  std::vector<TimeSpan> spans;     // host time of each instance, by start
};

struct Phases {
  std::vector<Phase> phases;  // level 0 by first appearance, each followed by what is within it
  std::uint64_t steps = 0;    // looked at: the steady ones; 0: the recording has no steps
  std::int64_t total_ns = 0;  // host time of these
  std::string reason;         // why there are none; empty if there are

  std::size_t MemoryBytes() const;
};

Phases MakePhases(const FrameFacts& facts, const TimeFrames& frames);

}  // namespace jarvis::analysis
