// One timeline of all ranks' collectives (collective_identity.h): on which common clock, who came
// last, and what each rank's communication time was: waiting, transfer, unmatched.
//
// Times are nanoseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/attribution/collective_kernel.h"
#include "analysis/ranks/collective_identity.h"
#include "analysis/ranks/rank_set.h"
#include "base/interval.h"

namespace jarvis::analysis {

// One rank's part of a collective.
struct JointPart {
  std::size_t rank = 0;       // RankSet::ranks
  std::size_t call = 0;       // RankDigest::calls
  std::int64_t start_ns = 0;  // on the common clock
  std::int64_t end_ns = 0;
  std::int64_t wait_ns = 0;  // until the last rank's start, at most the call's length
};

struct JointCollective {
  CommFamily family = CommFamily::kOther;
  std::size_t one = 0;    // CollectiveIdentity::collectives; it is whole
  std::size_t group = 0;  // CollectiveIdentity::groups
  // Of a send and its receive: the sender had given all of it away before the receiver came, who
  // copied it from a buffer. Nobody waited, and the send alone is the transfer.
  bool buffered = false;
  std::vector<JointPart> parts;  // by rank; two or more
  std::size_t last = 0;          // of parts: who started last, the lowest of several
  std::size_t first = 0;         // ... first, the highest of several
  // The last start less the median start of the others.
  std::int64_t late_ns = 0;
  std::int64_t skew_ns = 0;      // last start less first start
  std::int64_t transfer_ns = 0;  // the first end less the last start; 0 if that is negative
  std::int64_t shortest_ns = 0;  // the shortest call
};

// Where the communication time of a rank went. The four add up to comm_ns: each instant in which
// a communication kernel runs counts once, for the first of transfer, wait, bubble, unmatched that
// it is of.
struct RankCommTime {
  std::int64_t comm_ns = 0;
  std::int64_t wait_ns = 0;
  std::int64_t bubble_ns = 0;  // in sends and receives, for the stage before or after: of no rank
  std::int64_t fill_ns = 0;    // of that, in the first receive
  std::int64_t transfer_ns = 0;
  std::int64_t unmatched_ns = 0;
  std::int64_t matched = 0;  // calls
  std::int64_t unmatched = 0;
  std::int64_t came_last = 0;   // by more than the clocks may be wrong
  std::int64_t came_first = 0;  // ... before the last, in collectives that are no hand-over
  std::int64_t met = 0;         // such collectives, whoever came last
};

// The calls of a family: what they truly cost.
struct FamilyTime {
  CommFamily family = CommFamily::kOther;
  std::int64_t matched = 0;
  std::int64_t shortest_ns = 0;  // the shortest call of each, summed
  std::vector<std::int64_t>
      by_rank_ns;  // what each rank spent in calls of the family, matched or not
};

// What is added to a rank's clock, and how far the ends of its collectives still disagree.
struct RankClock {
  std::int64_t offset_ns = 0;  // to the times that the traces say
  std::int64_t spread_ns = 0;  // the middle 80 % of the differences of ends
  bool known = false;          // it has matched calls
};

// When a rank does what in its communication kernels, on the common clock.
struct CommSets {
  IntervalSet<std::int64_t> transfer;
  IntervalSet<std::int64_t> wait;
  IntervalSet<std::int64_t> bubble;
  IntervalSet<std::int64_t> unmatched;
};

struct JointTimeline {
  CollectiveIdentity identity;
  std::vector<JointCollective> collectives;  // by last start
  std::vector<RankCommTime> ranks;           // as RankSet::ranks
  std::vector<CommSets> sets;                // the same, as sets of time that do not meet
  std::vector<RankClock> clocks;
  std::vector<FamilyTime> families;  // the longest first
  // Instants nearer than this are one, as far as the clocks tell.
  std::int64_t clock_error_ns = kEndsAgreeNs;
  std::int64_t origin_ns = 0;  // of the common clock, counted from identity.base_ns
  // Matched collectives in which a rank ended before another began, although all must meet.
  std::int64_t impossible = 0;
};

JointTimeline JoinCollectives(const RankSet& set);

// Whether its rank came last: by more than the clocks may be wrong, and not at a hand-over, where
// who receives waits for the stage before.
bool HasLast(const JointTimeline& joint, const JointCollective& one);

// The place of an instant of a rank's trace on the common clock, which begins with the first
// collective; instants that are years from it are cut.
std::int64_t OnCommonClock(const RankSet& set, const JointTimeline& joint, std::size_t rank,
                           std::int64_t ns);

}  // namespace jarvis::analysis
