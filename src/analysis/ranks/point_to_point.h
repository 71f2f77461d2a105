// Sends and receives: which two ranks a call is of. Collectives of two ranks are paired by this
// link and their order on it (collective_identity.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/ranks/rank_digest.h"

namespace jarvis::analysis {

// What a call does to the ranks. What was recorded of a barrier, a send or a receive decides, as
// libraries do these by the kernels of an AllReduce and an exchange; else the kernel's name does.
CommFamily FamilyOf(const CollectiveKind& kind);

// One direction between two ranks; of a call that sends and receives at once both, the lower rank
// as the source.
struct RankLink {
  std::int64_t source = 0;
  std::int64_t target = 0;
  bool both = false;
  std::string Text() const;  // "0 > 1"
};

// Of a send or a receive of a rank. The peer is recorded, or the only other rank of the group.
// Absent: not known, or no such call.
std::optional<RankLink> LinkOf(const CollectiveKind& kind, std::int64_t rank,
                               std::optional<std::int64_t> world_size);

// Whether the call sends and does not receive, and the reverse. A batch does both.
bool IsSend(const CollectiveKind& kind);
bool IsReceive(const CollectiveKind& kind);

}  // namespace jarvis::analysis
