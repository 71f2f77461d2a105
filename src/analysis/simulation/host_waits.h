// Which calls waited for the GPU, and for which work.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/simulation/recorded_work.h"

namespace jarvis::analysis {

enum class WaitKind : std::uint8_t {
  kNone,
  kCopy,        // for a copy that the call itself started
  kWait,        // for work launched before
  kNotBinding,  // it would have: what it waits for had ended before the call
};

struct HostWait {
  WaitKind kind = WaitKind::kNone;
  std::uint32_t work = kNoPlace;
  double own_cost = 0;      // of the call without anything to wait for
  double return_delay = 0;  // from the end of the work to the return of the call
  // Of waits for the device: HostWaits::others[first_other, first_other + others), work of other
  // streams that it would have waited for had it ended later.
  std::uint32_t first_other = 0;
  std::uint32_t others = 0;
};

struct HostWaits {
  std::vector<HostWait> by_call;
  std::vector<std::uint32_t> others;
  std::vector<double> return_delays;  // of synchronising calls, ascending: what a wait looks like
  std::size_t measured = 0;           // waits that were seen; below 3 return_delays say little
};

// `clock_moved`: the GPU's times were aligned, and are less exact for it.
HostWaits FindHostWaits(const RecordedWork& recorded, bool clock_moved);

}  // namespace jarvis::analysis
