// Which GPU work of a trace two traces are compared by: that of its steps. Work that was launched
// before the recording belongs to a step that is not there, and another run of the same program
// has recorded another part of it.
#pragma once

#include <unordered_set>
#include <vector>

#include "analysis/attribution/attribution.h"
#include "analysis/frames/time_frames.h"
#include "session/loaded_trace.h"

namespace jarvis::findings {

class OwnWork {
 public:
  // Both must outlive it.
  OwnWork(const session::LoadedTrace& trace, const analysis::TimeFrames& frames);

  bool Has(const analysis::Launcher& launcher) const;
  // Steps that the times are of: the steady ones where others are set apart; 1: none are marked.
  double steps() const { return steps_; }

 private:
  const session::LoadedTrace& trace_;
  std::unordered_set<trace::EventIndex> outside_;  // of the steps
  analysis::TimeSpan frame_{};
  bool has_steps_ = false;
  std::vector<analysis::TimeSpan> left_out_;  // host time of steps that are set apart
  double steps_ = 1;
};

}  // namespace jarvis::findings
