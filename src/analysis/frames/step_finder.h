// Which stretches of host time are the steps of a trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/frames/frame_facts.h"

namespace jarvis::analysis {

// How the steps of a trace were found; best evidence first.
enum class StepSource : std::uint8_t { kNone, kMarks, kAnnotation, kModule, kKernelPeriod };
std::string_view StepSourceText(StepSource source);

struct FoundStep {
  std::string name;
  std::int64_t number;
  TimeSpan host;
};

// Between two steps: others ran meanwhile that are not recorded (a profiler's schedule that
// repeats), or nothing did.
struct StepHole {
  TimeSpan span;
  // Of the steps that are missing, by the numbers of those around; absent: they do not tell.
  std::optional<std::int64_t> first, last;
};

struct FoundSteps {
  StepSource source = StepSource::kNone;
  std::string name;              // of the mark, annotation or module
  std::string reason;            // why there are none; empty if there are
  std::vector<FoundStep> steps;  // by start, apart
  std::vector<StepHole> holes;   // by start
};

// ProfilerStep#n, without host events those on the GPU's streams; else an annotation around nearly
// all of the thread's time; else an annotation or an outermost module call that repeats over nearly
// all of it (a step is then from one start to the next); else the period of the launched kernel
// sequence, if it covers nearly all. No step goes on over a stretch in which steps are missing.
FoundSteps FindStepFrames(const FrameFacts& facts);

}  // namespace jarvis::analysis
