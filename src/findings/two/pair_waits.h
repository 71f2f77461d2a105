// Where the host of a side of a comparison waits for its GPU.
//
// Times are nanoseconds.
#pragma once

#include <cstdint>
#include <vector>

#include "base/job.h"
#include "base/result.h"
#include "findings/two/balance.h"

namespace jarvis::findings {

// Errors: kCancelled.
class SideWaits {
 public:
  static Result<SideWaits> Of(const AnalysedSide& side, const Job& job);

  // Calls within the base that wait for work of the trace's own. A copy that the host waits for and
  // the synchronization that follows it at once, by the same caller, are one wait.
  double calls() const { return calls_; }
  // Waiting in the host events at these places of the tree's preorder, from one to before another.
  std::int64_t Within(std::uint32_t begin, std::uint32_t end) const {
    return until_[end] - until_[begin];
  }

 private:
  double calls_ = 0;
  std::vector<std::int64_t> until_;  // by place, and one more: what lies before it
};

}  // namespace jarvis::findings
