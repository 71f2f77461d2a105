// The calls of all ranks as tables show them, with the collective that each is of: by the identity
// that the whole program has (collective_identity.h), or by the rule of the reference, which knows
// groups by name and calls by their order alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/attribution/table_rules.h"
#include "analysis/ranks/joint_collectives.h"
#include "analysis/ranks/rank_set.h"

namespace jarvis::analysis {

// Microseconds on a clock that the ranks share: the common one of the ranks, or the one that their
// files speak of.
struct CallTime {
  double start = 0;
  double dur = 0;
  double end = 0;
  double shown_start = 0;  // as tables show it: as recorded
};

// One kernel that counts.
struct RankCall {
  std::size_t rank = 0;  // RankSet::ranks
  const CollectiveCall* call = nullptr;
  const CollectiveKind* kind = nullptr;
  // The group has a name. Calls of one rank and kind share them.
  const CollectiveKeys& keys() const { return *shared_keys; }
  const CollectiveKeys* shared_keys = nullptr;  // Matching::keys
  CallTime time;
  Cell id;                 // of the collective; absent: it cannot be matched with other ranks
  std::int64_t index = 0;  // in its group, by start
};

// One collective: a call of each rank that has it, by rank.
struct MatchedCollective {
  Cell id;
  std::vector<std::size_t> calls;  // Matching::calls
  CollectiveType type = CollectiveType::kOther;
  bool named = false;                      // type is known to be what it is
  bool agree = true;                       // all ranks say the same of it
  bool point_to_point = false;             // a send and its receive
  const JointCollective* joint = nullptr;  // of a whole one; null by the rule of the reference
  bool came_late = false;                  // its last rank: by more than the clocks may be wrong
};

struct Matching {
  std::vector<std::unique_ptr<const CollectiveKeys>> keys;
  std::vector<RankCall> calls;                 // by rank, then in file order
  std::vector<MatchedCollective> collectives;  // in order of their first call
  std::uint64_t unmatched = 0;                 // calls without an id
  // No group has a name and each rank uses one stream: order is all there is, and collectives
  // count as synchronising whatever they are called.
  bool simplified = false;
  std::vector<RankWarning> warnings;
};

// `joint`: of the set; null for the rule of the reference. Both must outlive the result.
Matching MatchCollectives(const RankSet& set, const JointTimeline* joint, const TableRules& rules);

}  // namespace jarvis::analysis
