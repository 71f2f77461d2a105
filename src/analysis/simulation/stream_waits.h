// Which work waited for work of another stream: by a recorded call that told its stream to wait, by
// an implicit barrier, or for room on the GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/simulation/calibration.h"
#include "analysis/simulation/host_waits.h"
#include "analysis/simulation/recorded_work.h"

namespace jarvis::analysis {

enum class StreamWaitKind : std::uint8_t {
  kDeclared,    // a call told the stream to wait, and the source's end explains the start
  kInferred,    // no call did, but the start is late and follows an end
  kRoom,        // started in the last part of other work: for want of room beside it
  kNotBinding,  // told to wait for what had ended already
};

struct StreamWait {
  std::uint32_t work;
  std::uint32_t source;
  // From the end of the source; kRoom: from its start, for a source of its recorded duration.
  double delay;
  StreamWaitKind kind;
};

// By work.
std::vector<StreamWait> FindStreamWaits(const RecordedWork& recorded,
                                        const Calibration& calibration, const HostWaits& waits);

}  // namespace jarvis::analysis
