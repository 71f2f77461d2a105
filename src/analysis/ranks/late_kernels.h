// Which kernel makes ranks come late: the one whose time before a collective differs between ranks
// so that who has most of it starts last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/ranks/joint_collectives.h"

namespace jarvis::analysis {

// What the ranks ran for before collectives of one kind, as far as it is of one kernel.
struct LateKernel {
  std::string kernel;      // short names
  std::string collective;  // the communication kernel that follows
  CommFamily family = CommFamily::kOther;
  bool between_exchanges = false;  // the collective before each is an exchange too, as it is itself
  std::size_t times = 0;           // the last to start had most of the kernel
  std::size_t of = 0;              // ... of so many collectives
  double ratio = 1;                // the most to the mean, in the middle
  std::int64_t spread_ns = 0;      // the most less the mean, summed
  // Correlation of the most with how long the collective takes once all have started: near 1, the
  // transfer follows the load. 0: neither differs.
  double transfer_follows = 0;
  // What each rank has more than the mean, of each collective: its part's call and nanoseconds.
  struct More {
    std::size_t rank;
    std::size_t call;
    std::int64_t ns;  // below 0: less
  };
  std::vector<More> more;
};

// Those that tell who is last, not by chance, the largest spread first. `counts`: whether a place
// of joint.collectives is looked at.
std::vector<LateKernel> FindLateKernels(const RankSet& set, const JointTimeline& joint,
                                        const std::vector<bool>& counts);

}  // namespace jarvis::analysis
