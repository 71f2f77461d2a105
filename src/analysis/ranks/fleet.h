// Which ranks, hosts, links and steps of a job are slow, against the median of those that do the
// same work, and how sure that is.
//
// A rank's own time is what it does not spend in communication that no computation hides: waiting
// for others is not in it, so one slow rank does not make the others slow. It is compared among
// ranks that do the same work alone (stages of a pipeline do not).
//
// Times are nanoseconds. Pure functions of the digests: same bytes for the same input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/ranks/fleet_stats.h"
#include "analysis/ranks/joint_collectives.h"
#include "analysis/ranks/rank_set.h"

namespace jarvis::analysis {

// Fewer ranks of the same work, hosts, or groups of one kind have no usual to be compared with.
inline constexpr std::size_t kFleetPeersMin = 4;
inline constexpr std::size_t kFleetHostsMin = 3;
// Less is not worth telling.
inline constexpr double kFleetSlowShare = 0.03;
inline constexpr double kFleetSlowTransfer = 0.10;
inline constexpr double kFleetOddStep = 0.10;
// Beyond so many robust deviations something is no chance among thousands.
inline constexpr double kFleetScoreMin = 5;

// What the time is that a slow rank takes longer.
enum class FleetCause : std::uint8_t {
  kUnknown,  // no figures by step
  kGpu,      // its GPU computes longer
  kHost,     // its GPU idles longer
  kBoth,
};

struct FleetRank {
  std::size_t peers = 0;            // FleetFindings::classes
  std::optional<std::size_t> host;  // FleetFindings::hosts
  std::optional<double> own_ns;     // the median step's
  // Over its peers' median: 0.1 takes 10 % longer. By step; without steps by collective.
  std::optional<double> excess;
  double score = 0;   // in robust deviations among its peers
  FleetSigns steps;   // above and below the median of its peers
  FleetSigns calls;   // the same of the collectives of the group that tells most
  double chance = 1;  // the smaller one of both, times the groups looked at
  FleetCause cause = FleetCause::kUnknown;
  bool slow = false;  // beyond what its host explains
  // It would be slow, but what it takes longer is what the hosts of all ranks lose alike.
  bool shared_loss = false;
};

// Ranks that do the same work.
struct FleetClass {
  std::vector<std::size_t> ranks;  // RankSet::ranks
  std::optional<FleetSpread> excess;
  // They seemed to do the same work as another class and take so much longer, but are too many for
  // exceptions: other work, most likely.
  std::optional<std::size_t> apart_from;
  double apart_excess = 0;
};

enum class FleetHostsBy : std::uint8_t { kNothing, kGiven, kNames, kDevices };

struct FleetHost {
  std::string name;
  std::vector<std::size_t> ranks;
  std::optional<double> excess;  // the median of its ranks
  double score = 0;
  std::size_t compared = 0;     // of its ranks
  std::size_t ranks_above = 0;  // of those, their peers' median
  FleetSigns steps;             // of all of them
  double chance = 1;
  FleetCause cause = FleetCause::kUnknown;
  bool slow = false;
};

// A group's collectives of one kind and size.
struct FleetGroup {
  std::size_t group = 0;  // CollectiveIdentity::groups
  CommFamily family = CommFamily::kOther;
  bool hand_over = false;  // from one rank to the next
  std::int64_t bytes = 0;
  std::vector<std::size_t> hosts;  // empty: not known
  std::size_t alike = 0;           // groups of this kind, size, ranks and hosts
  double transfer_ns = 0;          // median of the shortest calls
  double usual_ns = 0;             // the median group's
  double excess = 0;
  double score = 0;
  FleetSigns calls;
  bool slow = false;
};

// What slow groups have in common.
struct FleetLink {
  std::vector<std::size_t> hosts;  // one: within it, or between it and all others
  bool within = false;             // groups that do not leave the host
  std::size_t groups = 0;          // slow ones that it explains
  double excess = 0;               // their median
  FleetSigns calls;
};

struct FleetStep {
  std::int64_t number = 0;
  std::size_t ranks = 0;
  double dur_ns = 0;  // medians of the ranks
  double own_ns = 0;
  double exposed_ns = 0;
  double excess = 0;  // of its duration over the median step
  double score = 0;
  bool odd = false;
  std::size_t slowest = 0;  // RankSet::ranks, by own time over its peers
  double slowest_excess = 0;
};

struct FleetFindings {
  FleetHostsBy hosts_by = FleetHostsBy::kNothing;
  std::vector<FleetRank> ranks;  // as RankSet::ranks
  std::vector<FleetClass> classes;
  std::vector<FleetHost> hosts;
  std::vector<FleetGroup> groups;  // the slowest first
  std::vector<FleetLink> links;    // that explain most first
  std::vector<FleetStep> steps;
  std::size_t compared = 0;  // ranks with enough peers
  bool by_step = false;      // else by collective alone
};

// `ranks_per_host`: consecutive ranks; absent: by the names that traces have, else by their GPUs.
FleetFindings LookAtFleet(const RankSet& set, const JointTimeline& joint,
                          std::optional<std::int64_t> ranks_per_host);

}  // namespace jarvis::analysis
