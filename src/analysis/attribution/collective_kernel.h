// What is known of one communication kernel: the collective, its group, what it moves.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/attribution/table_rules.h"
#include "table/table.h"
#include "trace/event_store.h"

namespace jarvis::analysis {

// The columns that keep collectives apart, but for the rank.
enum CollectiveKey : std::size_t {
  kGroup,
  kRanks,
  kCollective,
  kGroupSize,
  kDtype,
  kIn,
  kOut,
  kInSplit,
  kOutSplit,
  kStream,
  kCollectiveKeyCount
};
using CollectiveKeys = std::array<Cell, kCollectiveKeyCount>;
extern const std::array<const char*, kCollectiveKeyCount> kCollectiveKeyNames;

// What the event's own args say; what they do not is absent. Lists are the text of a tuple.
CollectiveKeys RecordedCollective(const trace::EventStore& events, trace::EventIndex e);

// The collective that a kernel is named after ("allreduce"); absent: its name does not say.
// cross_device_reduce alone is known if `name_from_kernel` is off.
Cell CollectiveOfKernel(std::string_view kernel, bool name_from_kernel);

// What a communication kernel does to the ranks, by whichever name it is known. Kernels of
// different names are one collective if they are of one family: a grouped send_recv is how NCCL
// does an all_to_all.
enum class CommFamily : std::uint8_t {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kExchange,  // all_to_all, send_recv, and what an expert-parallel layer calls dispatch and combine
  kPointToPoint,  // a send or a receive: from one rank to another
  kBroadcast,
  kReduce,
  kBarrier,
  kOther,  // communication, but the name does not say which
};
// "AllReduce", "all_to_all": what a reader calls it.
std::string_view CommFamilyName(CommFamily family);

// Of a kernel's name, whatever library it is of: NCCL, RCCL, the reductions of serving engines
// (cross_device, quick, one and two shot), symmetric memory, multimem, NVSHMEM, MSCCL++, DeepEP.
// Absent: no communication. Wider than IsCollectiveName, which decides what tables count.
std::optional<CommFamily> CommFamilyOfKernel(std::string_view kernel);
// Of a collective's or an op's name ("all_to_allv", "_allgather_base", "nccl:all_reduce").
CommFamily CommFamilyOfName(std::string_view name);

// A whole or a fractional number, also one that was recorded as text.
std::optional<double> RecordedNumber(const Cell& cell);

// Size of a message in units of 1024 * 1024 bytes; absent if its type or length is unknown.
std::optional<double> MegabytesOf(const CollectiveKeys& keys, CollectiveKey elements,
                                  const CollectiveRules& rules);

}  // namespace jarvis::analysis
