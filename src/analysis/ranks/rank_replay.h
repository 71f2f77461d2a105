// What a job of several ranks would take if some host or GPU time of it were not there: a longest
// path over its collectives.
//
// A rank's collective starts when the host has launched what its start hung on (the observed time,
// less what is taken out before), when the GPU is done with the work since the collective before,
// and not before that has ended. Its transfer begins when the last rank has started it. The host
// goes on after a call that waited for the GPU when the collective before the call's return has
// ended, plus what was observed in between. Unedited the replay gives the observed times.
//
// Times are nanoseconds on the joint timeline's clock.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/ranks/joint_collectives.h"

namespace jarvis::analysis {

struct ReplayEdit {
  // What is taken out of a host piece of a rank; absent: nothing.
  std::function<std::int64_t(std::size_t rank, const RankHostPiece& piece)> host;
  // What is taken out of a rank's GPU work before a call (place in RankDigest::calls).
  std::function<std::int64_t(std::size_t rank, std::size_t call)> gpu;
};

struct Replayed {
  // From the first event of any rank to the last end of GPU work (of the host, if there is none).
  std::int64_t wall_ns = 0;
  std::int64_t observed_ns = 0;  // the same as recorded
  // How long the base of each rank's ledger takes then, as RankSet::ranks; 0: it has none.
  std::vector<std::int64_t> base_ns;
};

// Needs the facts of every rank (see HasFacts).
Replayed Replay(const RankSet& set, const JointTimeline& joint, const ReplayEdit& edit);

bool HasFacts(const RankSet& set);

}  // namespace jarvis::analysis
