// How long kernels take at the least, by the sizes that their names and grids give: what must pass
// through the device's memory at its peak. Of traces without shapes this is all that there is to
// hold a kernel against.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "ledger/kinds/kinds_of_work.h"
#include "perf/platform.h"
#include "trace/event_store.h"

namespace jarvis::session {

// Less of the time of kernels says nothing: they may be bound by arithmetic.
inline constexpr double kLeastShare = 0.1;

class NameFloors {
 public:
  NameFloors(const trace::EventStore& events, const ledger::KindsOfWork& kinds,
             const perf::Platform& platform);

  // Never above the kernel's own time. Absent: its name gives no sizes, or what they give is so far
  // below the time of the kernels of that name that something else is their limit.
  std::optional<std::int64_t> Of(trace::EventIndex gpu_event) const;

 private:
  std::unordered_map<trace::EventIndex, std::int64_t> floors_ns_;
};

}  // namespace jarvis::session
