// What a few calls take beyond their equals has a finding of its own (Pattern::kSlowCalls): what is
// done to all calls of an op or a chain saves none of it.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/simulation/change.h"
#include "findings/one/finding.h"

namespace jarvis::findings {

class CallExcess {
 public:
  // REQUIRES: events outlive it.
  CallExcess(const trace::EventStore& events, std::span<const Finding> findings);
  // The changes without what they would save of the excess.
  std::vector<analysis::Change> Spare(const std::vector<analysis::Change>& changes) const;

 private:
  double Of(trace::EventIndex gpu) const;
  void Spare(const analysis::RemoveGpu& change, std::vector<analysis::Change>* left) const;

  const trace::EventStore& events_;
  std::unordered_map<trace::EventIndex, double> parts_;  // of an event's time
};

}  // namespace jarvis::findings
