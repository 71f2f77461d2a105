// What one rank alone tells of waiting: collectives that take longer than what they move can.
// Whether the others were late or the transport is slow, one rank cannot tell.
//
// Times are nanoseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/ranks/rank_digest.h"

namespace jarvis::analysis {

enum class WaitSign : std::uint8_t {
  kTiny,       // a message of a few bytes takes long
  kSizeBlind,  // a message several times its size takes hardly longer
  kFirst,      // the first of equal calls takes far longer than the others
  kSpread,     // the same message takes much longer at some times than at others
};

// Equal calls of one rank.
struct LoneKind {
  CommFamily family = CommFamily::kOther;
  std::optional<std::int64_t> bytes;  // that the rank hands in or gets, the larger
  // Of the shortest call, as each rank's link carries it: bytes times 2 (n - 1) / n of an AllReduce
  // of n ranks, (n - 1) / n of a ReduceScatter, AllGather or all_to_all, all of a send, 1e9 bytes a
  // second.
  std::optional<double> bus_gb_s;
  std::int64_t calls = 0;
  std::int64_t shortest_ns = 0;
  std::int64_t median_ns = 0;
  std::int64_t longest_ns = 0;
  std::int64_t total_ns = 0;
  // What a call takes without waiting: the shortest, as far as their size is recorded; of many
  // whose size is not, what a tenth of them take no longer than, as one may have moved next to
  // nothing.
  std::int64_t transfer_ns = 0;
  std::int64_t waiting_ns = 0;  // beyond it, of all calls
  std::optional<WaitSign> sign;
  std::int64_t excess_ns = 0;              // beyond what the sign compares with
  std::optional<std::int64_t> twin_bytes;  // kSizeBlind: the larger size
  std::int64_t twin_ns = 0;                // its median
};

// Those that look like waits first, by excess; then by time. A sign counts if its excess is worth
// mentioning beside all communication of the rank.
std::vector<LoneKind> LookAtLoneRank(const RankDigest& digest);

}  // namespace jarvis::analysis
