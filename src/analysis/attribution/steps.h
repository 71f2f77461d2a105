// Training or inference steps: the ProfilerStep#n windows of a trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tree/call_tree.h"

namespace jarvis::analysis {

struct Step {
  std::int64_t number;  // n of ProfilerStep#n
  std::int64_t start_ns;
  std::int64_t end_ns;
};

// The marks (by start, apart on each thread) without those around no op and no runtime call of
// their process: a schedule's end opens one more step, in which the loop ends. All of them if none
// holds any.
std::vector<trace::EventIndex> WithoutEmptyMarks(const trace::EventStore& events,
                                                 const std::vector<trace::EventIndex>& marks);

// By start, without empty ones. Empty if the trace marks no steps.
std::vector<Step> FindSteps(const trace::EventStore& events, const tree::CallTree& tree);

// The step that GPU work belongs to: the one in which it was launched (or started, if it is not
// linked). Absent (-1): outside every step.
std::int64_t StepOf(const trace::EventStore& events, const tree::CallTree& tree,
                    const std::vector<Step>& steps, trace::EventIndex gpu);

}  // namespace jarvis::analysis
