// What a few calls take beyond their equals has a finding of its own (Pattern::kSlowCalls), and so
// have the host's stops: what is done to all calls of an op or a chain saves none of either. A
// pause that falls into an op falls into another one when that is gone.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/simulation/change.h"
#include "base/interval.h"
#include "findings/one/finding.h"

namespace jarvis::findings {

class CallExcess {
 public:
  // REQUIRES: events outlive it.
  CallExcess(const trace::EventStore& events, std::span<const Finding> findings);
  // The changes of a finding without what they would save of the excess; of the findings that it
  // is, all of them.
  std::vector<analysis::Change> Spare(const Finding& finding,
                                      const std::vector<analysis::Change>& changes) const;

 private:
  double Of(trace::EventIndex gpu) const;
  void Spare(const analysis::RemoveGpu& change, std::vector<analysis::Change>* left) const;
  analysis::ScaleHost Spare(const analysis::ScaleHost& change) const;

  const trace::EventStore& events_;
  std::unordered_map<trace::EventIndex, double> parts_;  // of an event's time
  IntervalSet<std::int64_t> stops_;                      // host time
};

}  // namespace jarvis::findings
