// The stretch of time that figures of a job are of: the base of one rank's ledger, as `analyze` of
// that rank has it.
//
// Times are nanoseconds.
#pragma once

#include <cstddef>
#include <cstdint>

#include "analysis/ranks/joint_collectives.h"
#include "base/interval.h"

namespace jarvis::analysis {

class JobBase {
 public:
  JobBase() = default;
  // Known if all ranks have facts and a ledger that says where its base lies.
  JobBase(const RankSet& set, const JointTimeline& joint, std::size_t rank);

  bool known() const { return known_; }
  std::size_t rank() const { return rank_; }
  // On the common clock.
  const IntervalSet<std::int64_t>& pieces() const { return pieces_; }
  // Whether an instant of that clock lies in it; where it is not known all do.
  bool Has(std::int64_t at) const { return !known_ || Contains(pieces_, at); }

 private:
  bool known_ = false;
  std::size_t rank_ = 0;
  IntervalSet<std::int64_t> pieces_;
};

// Ranks are recorded from different times on, and until different times: by their bases, or by
// their events. Nothing where that is longer than the job.
struct JobEdges {
  std::int64_t late_begin_ns = 0;  // from the first beginning to the last
  std::size_t late_begin_rank = 0;
  std::int64_t early_end_ns = 0;  // from the first end to the last
  std::size_t early_end_rank = 0;
};
// REQUIRES: facts of every rank.
JobEdges FindJobEdges(const RankSet& set, const JointTimeline& joint, std::int64_t wall_ns);

// The rank whose base is longest.
std::size_t LongestBase(const RankSet& set);

}  // namespace jarvis::analysis
