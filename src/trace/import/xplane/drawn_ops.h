// Ops of work that no launch is recorded of: a TPU runs a program as a whole, and a profile may be
// taken without the host. For each device with such work a thread is drawn that holds its steps,
// the runs of its programs, and at the begin of each run the calls of its ops, to which the work is
// linked by an External id. So there are ops, and no launches that nobody recorded.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/event_decoder.h"
#include "trace/import/xplane/device_lines.h"

namespace jarvis::trace::xplane {

// `lines`: those of the device, whose work gets its ids. `unlaunched`: by line, whether an event
// has no launch. `next_id`: the first External id that is free, and behind it when done.
DecodedSlice DrawOps(const DevicePlane& device, std::span<LineEvents*> lines,
                     const std::vector<std::vector<bool>>& unlaunched, std::int64_t* next_id);

}  // namespace jarvis::trace::xplane
