// Two ranks' calls of one group: which are the same.
//
// Times are nanoseconds on each rank's own clock; a constant between the clocks changes nothing but
// the choice between shifts that are equal in all else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/attribution/collective_kernel.h"

namespace jarvis::analysis {

struct OrderedCall {
  std::size_t call = 0;  // RankDigest::calls
  std::int64_t start = 0;
  std::int64_t end = 0;
  CommFamily family = CommFamily::kOther;
  std::size_t sort = 0;  // calls of one sort fit the same others
  std::optional<std::int64_t> sequence;
};

struct CallPairs {
  std::vector<std::pair<std::size_t, std::size_t>> places;  // (reference, calls), both ascending
  std::int64_t shift = 0;  // how many places later in the reference; 0 also where records are
                           // missing between
};

// What does not say what it is may be anything.
bool FamiliesFit(CommFamily a, CommFamily b);

CallPairs InOrder(std::size_t calls);

// `fits`: whether two calls may be the same by what was recorded of them. By one shift alone; where
// that does not hold all along, by who overlaps with whom.
CallPairs PairCalls(const std::vector<OrderedCall>& reference,
                    const std::vector<OrderedCall>& calls,
                    const std::function<bool(const OrderedCall&, const OrderedCall&)>& fits);

}  // namespace jarvis::analysis
