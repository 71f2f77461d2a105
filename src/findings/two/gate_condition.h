// How the conditions of the gate are written.
//
//   METRIC (> | >= | < | <=) LIMIT [and (> | ...) LIMIT]...
//   METRIC   of one unit of the base, as the headline; runs with units of different kinds (a
//            step, the recording) do not pass: window (the unit itself), total (sum of all GPU
//            work), busy (GPU works), idle (it does not), exposed_comm, exposed_copy (between host
//            and device; nothing else runs);
//            op:NAME, category:NAME, kernel:NAME, module:NAME (GPU time), where * in NAME is any
//            text and each row that fits is judged by itself;
//            of the first run of each: unexpected (ms of rows slower than expected) and
//            comparability (the score)
//   LIMIT    +5% or -5%: change against the baseline; +2ms, +50us: the same in time; 45ms without a
//            sign: the time itself; of comparability a number
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace jarvis::findings {

enum class GateUnit : std::uint8_t { kPercent, kChangeMs, kMs, kScore };

struct GateLimit {
  bool above = true;       // broken above the limit, else below
  bool inclusive = false;  // and at it
  double limit = 0;
  GateUnit unit = GateUnit::kPercent;
};

struct GateCondition {
  std::string text;               // as given
  std::string metric;             // "total", "op"...
  std::string name;               // of a row's metric
  std::vector<GateLimit> limits;  // broken if all are
};
// kBadValue, with what was expected.
Result<GateCondition> ParseGateCondition(std::string_view text);

}  // namespace jarvis::findings
