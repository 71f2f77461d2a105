#include "formats/digest_ledger.h"

#include <cstdint>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "formats/digest_values.h"

namespace jarvis::formats {
namespace {

using analysis::RankLedger;

// Of a rank's ledger, in this order.
constexpr std::int64_t RankLedger::*kLedgerSums[] = {
    &RankLedger::base_ns,       &RankLedger::busy_ns,       &RankLedger::compute_ns,
    &RankLedger::copy_ns,       &RankLedger::idle_host_ns,  &RankLedger::not_scheduled_ns,
    &RankLedger::idle_other_ns, &RankLedger::foreign_ns,    &RankLedger::host_alone_ns,
    &RankLedger::one_time_ns,   &RankLedger::unrecorded_ns, &RankLedger::left_out_ns};

// Each piece by its distance from the end of the one before.
Json PiecesJson(const IntervalSet<std::int64_t>& pieces) {
  Json list = Json::array();
  std::int64_t end = 0;
  for (const auto& piece : pieces) {
    list.push_back(piece.start - end);
    list.push_back(piece.end - piece.start);
    end = piece.end;
  }
  return list;
}

Result<IntervalSet<std::int64_t>> PiecesFrom(const Json* list, const char* name) {
  if (list == nullptr || !list->is_array() || list->size() % 2 != 0)
    return WrongDigest(name, "is no list of pairs");
  const DigestPlace where{name, 0};
  IntervalSet<std::int64_t> pieces;
  std::int64_t end = 0;
  for (std::size_t i = 0; i < list->size(); i += 2) {
    // The first is an instant, the others come after it and do not touch.
    JV_ASSIGN(const std::int64_t gap,
              DigestWhole(&(*list)[i], where.At(i), i == 0 ? -kDigestTimeMax : 1, kDigestTimeMax));
    JV_ASSIGN(const std::int64_t length,
              DigestWhole(&(*list)[i + 1], where.At(i + 1), 1, analysis::kFactMaxNs));
    if (end > kDigestTimeMax) return WrongDigest(where, "ends too late");
    pieces.push_back({end + gap, end + gap + length});
    end = pieces.back().end;
  }
  return pieces;
}

}  // namespace

Json LedgerJson(const RankLedger& ledger) {
  Json sums = Json::array();
  for (const auto which : kLedgerSums)
    sums.push_back(ledger.*which);
  return {{"unit", ledger.unit},
          {"count", ledger.count},
          {"bound", ledger.bound},
          {"sums_ns", std::move(sums)},
          {"exposed_communication_ns", PiecesJson(ledger.exposed)},
          {"base_ns", PiecesJson(ledger.base)}};
}

Result<RankLedger> LedgerFrom(const Json& json) {
  RankLedger ledger;
  JV_ASSIGN(ledger.unit, DigestString(FindMember(json, "unit"), "ledger.unit"));
  JV_ASSIGN(ledger.count, DigestWhole(FindMember(json, "count"), "ledger.count", 1, INT32_MAX));
  JV_ASSIGN(ledger.bound, DigestString(FindMember(json, "bound"), "ledger.bound"));
  const Json* sums = FindMember(json, "sums_ns");
  if (sums == nullptr || !sums->is_array() || sums->size() != std::size(kLedgerSums))
    return WrongDigest("ledger.sums_ns",
                       fmt::format("is no list of {} values", std::size(kLedgerSums)));
  for (std::size_t i = 0; i < std::size(kLedgerSums); ++i) {
    JV_ASSIGN(ledger.*kLedgerSums[i], DigestWhole(&(*sums)[i], fmt::format("ledger.sums_ns[{}]", i),
                                                  -kDigestTimeMax, kDigestTimeMax));
  }
  JV_ASSIGN(ledger.exposed, PiecesFrom(FindMember(json, "exposed_communication_ns"),
                                       "ledger.exposed_communication_ns"));
  // Older digests do not have it.
  if (const Json* base = FindMember(json, "base_ns"); base != nullptr) {
    JV_ASSIGN(ledger.base, PiecesFrom(base, "ledger.base_ns"));
  }
  return ledger;
}

}  // namespace jarvis::formats
