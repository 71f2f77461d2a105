// Which stretches of host time are the steps of a trace.
#pragma once

#include <cstdint>
#include <functional>
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

// Where steps that recur in a fixed order of unlike ones are one unit together (unit_groups.h).
struct UnitGroup {
  std::size_t size = 1;           // steps in a whole one; 1: each is a unit of its own
  std::string scope;              // the frame or annotation around each; empty: none
  std::vector<std::size_t> held;  // by unit: the steps in it; empty: one in each
  std::size_t HeldIn(std::size_t unit) const { return held.empty() ? 1 : held[unit]; }
};

// What users call one.
enum class TimeUnit : std::uint8_t { kStep, kIteration, kRequest, kPass, kRecording };
std::string_view TimeUnitText(TimeUnit unit);  // "step", "iteration", "request", ...
// The same of a group: "group of 4 passes".
std::string UnitText(TimeUnit unit, const UnitGroup& group);
// Several of what such a text names: "steps", "passes", "groups of 4 passes".
std::string PluralOfUnit(std::string_view text);

struct FoundSteps {
  StepSource source = StepSource::kNone;
  TimeUnit unit = TimeUnit::kRecording;
  std::string name;              // of the mark, annotation or module
  std::vector<FoundStep> steps;  // by start, apart
  std::vector<StepHole> holes;   // by start
  // What comes between two belongs to the first: backward after a forward pass. Of marks too, but
  // the last one ends where it was marked to end.
  bool to_the_end = false;
  // Marks that stand around a part of their step: it ends where the next begins, so that nothing
  // shows the end of the last one.
  bool open_end = false;
  bool inferred = false;   // from a scope that only happens to repeat
  bool of_engine = false;  // iterations and requests as an engine names them
  UnitGroup group;
};

// Whether these are the steps.
using StepTaker = std::function<bool(FoundSteps found)>;

// Offers what could be the steps, best evidence first, until they are taken; false: none were.
// In this order: ProfilerStep#n, without host events those on
// the GPU's streams; iterations and requests as an engine's annotations name them; calls of the
// outermost module; iterations of a loader or an optimizer; an annotation that repeats over nearly
// all of the thread's time; the runs of a layer that scopes are named after; the period of the
// launched kernel sequence, if it covers nearly all. What repeats from layer to layer is no step.
// Of modules and scopes a step is from one start to the next. No step goes on over a stretch in
// which steps are missing.
bool OfferSteps(const FrameFacts& facts, const StepTaker& take);
struct NoSteps {
  std::string reason;
  bool part_of_pass = false;  // scopes of layers show that no whole pass was recorded
};
NoSteps WhyNoSteps(const FrameFacts& facts);

}  // namespace jarvis::analysis
