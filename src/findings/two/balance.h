// Where the difference of two windows comes from: lines that add up to it.
#pragma once

#include <string>
#include <vector>

#include "findings/two/common_order.h"

namespace jarvis::findings {

enum class BalanceKind : std::uint8_t {
  kIdle,
  kChanged,   // calls that one of them has between the same neighbours, or both have differently
  kCommon,    // the same calls of both
  kUnlinked,  // GPU work without a launch in the trace
  kOverlap,   // time that work shares with other work: more of it makes a window shorter
  kRest,      // lines below the threshold
};

struct BalanceLine {
  BalanceKind kind = BalanceKind::kRest;
  std::uint64_t count = 0;  // of kChanged: how often; of kCommon: calls
  BlockSide primary;        // of all kinds but kChanged with time alone
  BlockSide comparison;
  std::string name;    // of kCommon
  std::string after;   // of kChanged: between which calls
  std::string before;  // of kChanged
  double difference_ms() const { return primary.ms - comparison.ms; }
};

struct Balance {
  double primary_ms = 0;  // the windows
  double comparison_ms = 0;
  std::vector<BalanceLine> lines;  // the largest first, kRest last; their sum is the difference
};

// Milliseconds of the whole traces. Lines below 1 % of the larger window are one. Absent lines: a
// trace has no GPU work.
//   primary - comparison window = sum of the lines, as window = idle + sum of all calls' GPU time -
//   time that they share.
Balance BalanceOf(const session::LoadedTrace& primary, const session::LoadedTrace& comparison,
                  const CommonOrder& order);

// What a line is about: "GPU idle", "`a` (1.2), `b` (0.3) instead of `c` (2), 10 times (between `x`
// and `y`)"; numbers in milliseconds, at most `most` names a side.
std::string LineText(const BalanceLine& line, std::size_t most);

}  // namespace jarvis::findings
