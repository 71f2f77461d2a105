// Which kernels of different ranks are the same collective.
//
// Calls of one group are matched by their running number where every rank recorded it, else by
// their order. Where the ranks recorded different stretches (other numbers of calls, or calls that
// do not fit), the order is shifted so that what was called and when it ended agree best.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/attribution/table_rules.h"
#include "analysis/ranks/rank_set.h"

namespace jarvis::analysis {

// Microseconds on a clock that the ranks share.
struct CallTime {
  double start = 0;
  double dur = 0;
  double end = 0;
  double shown_start = 0;  // as tables show it
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
  bool named = false;           // type is known to be what it is
  bool agree = true;            // all ranks say the same of it
  bool point_to_point = false;  // a send and its receive
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

// `set` must outlive the result.
Matching MatchCollectives(const RankSet& set, const TableRules& rules);

}  // namespace jarvis::analysis
