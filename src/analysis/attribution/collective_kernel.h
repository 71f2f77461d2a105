// What is known of one communication kernel: the collective, its group, what it moves.
#pragma once

#include <array>
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

// A whole or a fractional number, also one that was recorded as text.
std::optional<double> RecordedNumber(const Cell& cell);

// Size of a message in units of 1024 * 1024 bytes; absent if its type or length is unknown.
std::optional<double> MegabytesOf(const CollectiveKeys& keys, CollectiveKey elements,
                                  const CollectiveRules& rules);

}  // namespace jarvis::analysis
