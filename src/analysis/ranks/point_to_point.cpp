#include "analysis/ranks/point_to_point.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "analysis/ranks/node_columns.h"
#include "base/text.h"

namespace jarvis::analysis {
namespace {

std::string_view CallName(const CollectiveKind& kind) {
  const auto* name = std::get_if<std::string>(&kind.known[kCollective]);
  return name == nullptr ? std::string_view() : *name;
}

std::vector<std::int64_t> MembersOf(const CollectiveKind& kind,
                                    std::optional<std::int64_t> world_size) {
  const auto* text = std::get_if<std::string>(&kind.known[kRanks]);
  if (text != nullptr) return RanksIn(*text);
  const auto size = RecordedNumber(kind.known[kGroupSize]);
  std::vector<std::int64_t> members;
  if (world_size == 2 && (!size || *size == 2)) members = {0, 1};
  return members;
}

}  // namespace

CommFamily FamilyOf(const CollectiveKind& kind) {
  const CommFamily by_name = CommFamilyOfName(CallName(kind));
  if (by_name == CommFamily::kBarrier || by_name == CommFamily::kPointToPoint) return by_name;
  const CommFamily by_kernel = CommFamilyOfKernel(kind.kernel).value_or(CommFamily::kOther);
  // A batch of sends and receives is recorded under no other name.
  if (by_kernel == CommFamily::kExchange && EqualsNoCase(CallName(kind), "coalesced"))
    return CommFamily::kPointToPoint;
  return by_kernel == CommFamily::kOther ? by_name : by_kernel;
}

std::string RankLink::Text() const {
  return fmt::format("{} {} {}", source, both ? "<>" : ">", target);
}

bool IsSend(const CollectiveKind& kind) {
  return ContainsNoCase(CallName(kind), "send") && !ContainsNoCase(CallName(kind), "recv");
}

bool IsReceive(const CollectiveKind& kind) {
  return ContainsNoCase(CallName(kind), "recv") && !ContainsNoCase(CallName(kind), "send");
}

std::optional<RankLink> LinkOf(const CollectiveKind& kind, std::int64_t rank,
                               std::optional<std::int64_t> world_size) {
  if (FamilyOf(kind) != CommFamily::kPointToPoint) return std::nullopt;
  const bool sends = IsSend(kind);
  const bool receives = IsReceive(kind);
  const std::vector<std::int64_t> members = MembersOf(kind, world_size);
  // Ranks are those of the job or places in the group: the rank's own tells which.
  const auto found = std::find(members.begin(), members.end(), rank);
  const std::int64_t place = found == members.end() ? rank : found - members.begin();
  const auto& own = sends ? kind.source : kind.target;
  const auto& other = sends ? kind.target : kind.source;
  const bool by_place = own && *own == place && place != rank;
  std::optional<std::int64_t> peer = sends == receives ? std::nullopt : other;
  if (sends == receives && kind.source && kind.target) {
    const bool is_source = *kind.source == rank || (by_place && *kind.source == place);
    peer = is_source ? kind.target : kind.source;
  }
  if (peer && *peer < 0) peer.reset();
  if (peer && by_place) {
    if (static_cast<std::size_t>(*peer) >= members.size()) return std::nullopt;
    peer = members[static_cast<std::size_t>(*peer)];
  }
  if (!peer && found != members.end() && members.size() == 2)
    peer = members[found == members.begin() ? 1 : 0];
  if (!peer || *peer == rank) return std::nullopt;
  if (sends) return RankLink{rank, *peer, false};
  if (receives) return RankLink{*peer, rank, false};
  return RankLink{std::min(rank, *peer), std::max(rank, *peer), true};
}

}  // namespace jarvis::analysis
