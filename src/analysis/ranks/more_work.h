// How much more GPU work the rank that starts a collective last had before it than the others.
//
// Times are nanoseconds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/ranks/joint_collectives.h"
#include "analysis/ranks/rank_set.h"

namespace jarvis::analysis {

struct WorkSurplus {
  std::int64_t more_ns = 0;   // against the median of the others; negative: less
  std::int64_t ahead_ns = 0;  // what seems to be more, but the others did it beside calls before
};

class MoreWork {
 public:
  // Both must outlive it.
  MoreWork(const RankSet& set, const JointTimeline& joint);

  // Before JointTimeline::collectives[which]. Work that the others did beside a call before is
  // theirs as well: a rank that never waits has it in the stretch after that call, and would seem
  // to have more.
  WorkSurplus Before(std::size_t which) const;

 private:
  // Of a rank, summed over the collectives of `joint` so far.
  struct Sums {
    std::int64_t work_ns = 0;    // from the start of one call to that of the next
    std::int64_t beside_ns = 0;  // ... that ran while the call before did
  };
  struct Surplus {
    std::int64_t more_ns = 0;    // the last rank's work over the others' median
    std::int64_t beside_ns = 0;  // the median of what the others did beside calls
  };
  // Which ranks have about as much more in all as before each collective together.
  void Back(const std::vector<Sums>& all);
  std::int64_t OfOneCall(const JointCollective& one) const;
  bool SameRanks(std::size_t one, std::size_t other) const;
  Surplus Since(std::size_t earlier, std::size_t which) const;

  const RankSet& set_;
  const JointTimeline& joint_;
  std::vector<std::vector<Sums>> sums_;  // by collective and part
  std::vector<std::int64_t> seen_;       // by collective: what its last rank has more before it
  std::vector<bool> backed_;             // by rank; see Back
};

}  // namespace jarvis::analysis
