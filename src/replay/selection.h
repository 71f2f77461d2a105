// Which recorded calls a package is about.
#pragma once

#include <string>
#include <vector>

#include "session/loaded_trace.h"

namespace jarvis::replay {

// Calls of one op with the same recorded arguments.
struct Signature {
  std::string row;                            // "op3"; empty where the trace has no row for it
  std::string op;                             // name; of unlinked work "(unlinked) <kernel>"
  trace::EventIndex event = trace::kNoEvent;  // the first call; kNoEvent: no op around the work
  std::vector<std::uint32_t> launchers;       // of the attribution; empty: a host op
  std::vector<double> call_us;                // time of each call: GPU work at or below it, or host
  double total_us = 0;
};

struct Wanted {
  std::vector<std::string> rows;      // ids; of ops, kernels, modules or categories
  std::vector<std::string> op_names;  // whole names, or parts of names where no op is called so
};

// The longest first. With GPU work: what launched it. A trace without any: host ops by name, whose
// time is the host's. kUnknownRow and kBadValue say what there is instead.
Result<std::vector<Signature>> SelectCalls(const session::LoadedTrace& trace, const Wanted& wanted);

}  // namespace jarvis::replay
