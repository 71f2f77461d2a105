// Whose fault the waiting of a job's ranks is: who arrives last, what its host or GPU did before,
// and what the job would take otherwise.
//
// Times are nanoseconds.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/ranks/joint_collectives.h"
#include "analysis/ranks/late_kernels.h"

namespace jarvis::analysis {

// Why a rank was late at a collective.
enum class LateCause : std::uint8_t {
  kStart,    // the first collective of the recording: what came before is not there
  kStall,    // the host stood still at one place, which its other visits or ranks pass quickly
  kStarved,  // the host lost pieces at places all over: it was not given a processor
  kMemory,   // calls that take or give back memory
  kLongOp,   // a long op or call, each time
  kCompute,  // its GPU had more to compute
  kBefore,   // within the replay of a graph: its collective before ended later
  kAhead,    // the others had done the same work beside an earlier wait for it
  kHost,     // its host was later without a single long stretch: more work, or slower
  kUnknown,  // nothing recorded explains it, or its work was queued and the GPU came late to it
};
inline constexpr std::size_t kLateCauseCount = 10;

// Long stretches of a rank's host at one place.
struct HostStall {
  std::size_t rank = 0;
  HostPlace place = HostPlace::kEmpty;
  std::string inside;  // the op or call; "": none
  std::string before;
  std::string after;
  std::string annotation;  // that all of them lie in; "": none, or several
  std::int64_t times = 0;
  std::int64_t typical_ns = 0;  // the median of them
  std::int64_t shortest_ns = 0;
  std::int64_t longest_ns = 0;
  std::int64_t total_ns = 0;
  std::int64_t late_ns = 0;              // of what it cost at collectives
  CommFamily next = CommFamily::kOther;  // the collective that most of them delay
};

enum class RankRole : std::uint8_t {
  kCause,   // others wait for it, and it stands out by that
  kVictim,  // it waits, and another rank is a cause
  kNeither,
};

struct RankStory {
  RankRole role = RankRole::kNeither;
  std::int64_t window_ns = 0;  // of its GPU
  std::int64_t came_last = 0;  // in the base, as all that is lost
  std::int64_t lost_ns =
      0;  // how much later than the others' median it came, summed; not the first
  std::array<std::int64_t, kLateCauseCount> lost_by{};
  std::int64_t starved_ns = 0;  // pieces beyond the usual, at places all over
  std::int64_t starved_times = 0;
  std::int64_t lead_ns = 0;  // median from launch to start of its collectives
  bool starved = false;      // a good part of the host's time
  std::int64_t host_ns = 0;  // from the host's first event to its last
};

enum class LeverKind : std::uint8_t {
  kStall,        // JobStory::stalls[which] not there
  kStarvedLate,  // no starvation on the ranks that come late
  kStarvedAll,   // on no rank
  kMemory,       // no rank takes or gives back memory in long calls that do not wait for the GPU
  kBalance,      // each rank computes as long as the median before the collectives it is late at;
                 // of ranks that stand out among the others, or of all
};

// So many processes stand still at once, of so many, for this share of the time.
struct StandingStill {
  std::size_t still = 0;
  std::size_t of = 0;
  double share = 0;
};

struct JobLever {
  LeverKind kind = LeverKind::kStall;
  std::size_t which = 0;
  std::vector<std::size_t> ranks;
  std::int64_t saved_ns = 0;          // of base_ns, by replaying
  std::optional<std::size_t> kernel;  // of kBalance: JobStory::late_kernels whose time is uneven
};

// Figures are of the base of one rank's ledger: what comes before and after it is in none.
struct JobStory {
  std::int64_t base_ns = 0;     // without ledgers: of wall_ns
  std::size_t base_rank = 0;    // whose: the longest, or that of the last to begin (see from_late)
  std::int64_t base_count = 0;  // its units; 0: without ledgers
  std::string base_unit;        // as RankLedger::unit
  // Hosts starve, and what lies before the last rank's beginning is much next to what is left
  // without that: figures are counted from there.
  bool from_late = false;
  std::int64_t wall_ns = 0;  // from the first event of any rank to the last
  std::int64_t step_ns = 0;  // the longest of the ranks' steps, by their ledgers; 0: none marked
  std::int64_t steps = 0;    // that are recorded, in the base or not
  std::vector<RankStory> ranks;          // as RankSet::ranks
  std::vector<HostStall> stalls;         // that cost something, the worst first
  std::vector<LateKernel> late_kernels;  // the widest first
  std::vector<JobLever> levers;          // the best first
  std::int64_t lost_ns = 0;              // by all ranks
  std::int64_t start_ns = 0;             // waiting at the first collective
  std::size_t start_rank = 0;            // ... for this one
  // From the first rank's beginning to that of the last to begin: of its base, or its events.
  std::int64_t late_begin_ns = 0;
  std::size_t late_begin_rank = 0;
  std::int64_t early_end_ns = 0;  // from the end of the rank that ends first to that of the last
  std::size_t early_end_rank = 0;
  std::size_t starved_ranks = 0;
  // The starts of lost pieces of several ranks fall on one grid (a scheduler's tick); absent: not.
  std::optional<std::int64_t> tick_ns;
  // Where all ranks starve; absent: no count of them holds for most of the time.
  std::optional<StandingStill> standing;
  bool replayed = false;             // every rank has facts, so that levers could be computed
  std::int64_t replay_error_ns = 0;  // of the replay without any change
};

JobStory TellJob(const RankSet& set, const JointTimeline& joint);

}  // namespace jarvis::analysis
