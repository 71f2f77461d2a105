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

// The marks of one thread (by start) without those within another: a mark within a mark is the same
// step again. Marks that overlap by a hair, as clocks round, are steps one after the other.
std::vector<trace::EventIndex> OuterMarks(const trace::EventStore& events,
                                          std::vector<trace::EventIndex> marks);

// The marks that are drawn on the stream with the most work, by start and apart; of a recording
// without the host all that says where its steps are.
std::vector<trace::EventIndex> MarksOnMainStream(const trace::EventStore& events);

// By start, without empty ones; of a recording without the host MarksOnMainStream. Empty if the
// trace marks no steps.
std::vector<Step> FindSteps(const trace::EventStore& events, const tree::CallTree& tree);

// The step that GPU work belongs to: the one in which it was launched (or started, if it is not
// linked). Absent (-1): outside every step.
std::int64_t StepOf(const trace::EventStore& events, const tree::CallTree& tree,
                    const std::vector<Step>& steps, trace::EventIndex gpu);

}  // namespace jarvis::analysis
